"""Models of dotted names, and of types that are not Python's own: torch, numpy, the standard library."""
