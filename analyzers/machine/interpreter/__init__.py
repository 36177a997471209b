"""How Python runs: expressions, statements, calls, classes, generators, loops, workspace imports.

This room knows neither tensors nor library names.
"""
