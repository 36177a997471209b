"""Planted faults: what is called followed is followed.

Into a training loop of which the analyzer says that it was followed, one fault is planted. It must be found.
"""
