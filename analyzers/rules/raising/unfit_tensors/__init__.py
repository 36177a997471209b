"""What torch refuses of a tensor that is no leaf, needs no gradient, cannot have one, or has a graph."""
