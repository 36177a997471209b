"""Objects of torch's that are not used as they have to be: parameters, functions, grad modes, scalers."""
