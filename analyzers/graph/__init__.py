"""The autograd graph at a point of the program, as plain data."""
