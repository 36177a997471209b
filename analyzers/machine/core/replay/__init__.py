"""Calls that are run once for each way of entering them, and replayed elsewhere."""
