"""Tensors, views, versions, saved tensors, graph nodes, the backward engine and `.grad`.

This room knows no syntax, no Python calls, no dotted names and no operator rows.

A result requires grad if grad mode is on, an operand that the operator is differentiable in requires grad, and the
result's dtype allows it. What its node saves comes from the operator's row. A write checks the rules for leaves and
views, bumps the version counter and rebases the history: the tensor, or the base that it is a view of, gets a new place
in the graph.

    y = x.exp()        # node ExpBackward0 saves y at version 0
    y[0] = 0.0         # y at version 1; its place in the graph is now CopySlices
    y.sum().backward() # ExpBackward0 wants y at version 0: modified by an inplace operation
"""
