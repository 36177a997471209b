"""Faults where torch refuses to differentiate: a backward or a gradient that cannot be computed."""
