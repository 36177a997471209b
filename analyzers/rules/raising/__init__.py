"""Torch raises: the rules AG1xx, by what it refuses."""
