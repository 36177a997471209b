"""Tensors, views, versions, saved tensors, graph nodes, the backward engine and `.grad`. It knows neither syntax, nor
how Python calls functions, nor dotted names, nor the rows of operators."""
