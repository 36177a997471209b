"""Finds places: nodes of the user's code, statements in their blocks, and what a run knows about them."""
