"""The abstract machine itself: its memory, ids, places, choices, budget and record, and the tables that the other rooms
fill. It knows neither what a statement or an operator is, nor a rule about tensors, nor the name of a library."""
