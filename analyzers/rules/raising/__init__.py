"""Faults where torch raises: the rules AG1xx, grouped by what torch refuses."""
