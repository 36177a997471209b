"""Faults in the order of the training step: the rules AG3xx."""
