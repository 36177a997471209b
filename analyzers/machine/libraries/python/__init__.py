"""Python's builtins and standard library."""
