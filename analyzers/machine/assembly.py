"""The machine, put together: every module that enters something into a table is imported here, so that none is short.

Whoever runs something takes the entries from here.
"""

from __future__ import annotations

from typing import Final

from analyzers.machine.entries import frameworks, likely_values
from analyzers.machine.entries.functions import Made, make_instance, run_unknown
from analyzers.machine.entries.modules import run_module
from analyzers.machine.interpreter import (
    classes,
    comprehensions,
    conditions,
    expressions,
    handlers,
    imports,
    loops,
    names,
    patterns,
    statements,
    targets,
    with_blocks,
)
from analyzers.machine.libraries.python import (
    builtin_functions,
    builtin_objects,
    copying,
    intrinsics,
    namespaces,
    standard,
)
from analyzers.machine.libraries.torch import (
    autograd_entries,
    fast_paths,
    functions,
    grad_modes,
    modules,
    tensor_hooks,
    tensor_methods,
)
from analyzers.machine.libraries.torch import intrinsics as torch_intrinsics
from analyzers.machine.observers import (
    gradient_accumulation,
    graph_liveness,
    loss_targets,
    misdirected_gradients,
    optimizer_steps,
    retained_graphs,
    suspicious_statements,
    untrained_parameters,
)
from analyzers.machine.operators import casts, composite_shapes, composites

TABLES_OF: Final = (
    classes, comprehensions, conditions, expressions, handlers, imports, loops, names, patterns, statements, targets,
    with_blocks, casts, composite_shapes, composites, builtin_functions, builtin_objects, copying, intrinsics,
    namespaces, standard, autograd_entries, fast_paths, functions, grad_modes, modules, tensor_hooks, tensor_methods,
    torch_intrinsics, gradient_accumulation, graph_liveness, loss_targets, misdirected_gradients, optimizer_steps,
    retained_graphs, suspicious_statements, untrained_parameters, frameworks, likely_values,
)  # fmt: skip
"""The modules whose import fills a table."""

__all__ = ["TABLES_OF", "Made", "make_instance", "run_module", "run_unknown"]
