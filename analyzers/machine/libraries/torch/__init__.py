"""Torch as Python sees it: tensors and their methods, modules, grad modes, custom functions."""
