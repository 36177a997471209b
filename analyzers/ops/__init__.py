"""Torch's operators as data: `table` says what one does to autograd, `resolve` which one a Python call reaches."""
