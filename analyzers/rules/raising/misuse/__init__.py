"""Faults in the use of torch's own objects: parameters, functions, grad modes, scalers."""
