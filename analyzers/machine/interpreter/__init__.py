"""How Python runs: expressions, statements, calls, classes, generators, loops, imports of the workspace.

It knows neither tensors nor the name of any library.
"""
