"""Faults where a tensor does not fit: it is no leaf, does not require grad, cannot have a gradient, or has a graph."""
