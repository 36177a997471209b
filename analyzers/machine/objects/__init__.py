"""How Python's own objects behave: attributes, operators, items, iteration, truth, methods. This room reads no syntax
and knows neither tensors nor library names."""
