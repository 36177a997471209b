"""Python and torch semantics: the abstract machine and everything that reads what its run leaves behind.

This package knows no editor protocol and no clock, and never imports torch or the program it analyses.
"""
