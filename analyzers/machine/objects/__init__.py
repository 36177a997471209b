"""What Python's own objects answer when they are asked: attributes, operators, items, iteration, truth, methods. It
reads no syntax, and knows neither tensors nor the names of libraries."""
