"""Numpy: arrays, and what they share with tensors."""
