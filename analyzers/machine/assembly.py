"""The assembled machine: imports every module that fills a table, so that no table is incomplete.

Code that runs something imports the entries from here.
"""

from __future__ import annotations

from typing import Final

from analyzers.machine.entries import frameworks, likely_adapters, likely_layers, likely_outputs, likely_values
from analyzers.machine.entries.functions import Made, make_instance, run_unknown
from analyzers.machine.entries.modules import run_module
from analyzers.machine.interpreter import (
    calls,
    classes,
    comprehensions,
    conditions,
    decorators,
    dispatch,
    expressions,
    generators,
    handlers,
    imports,
    linking,
    loops,
    names,
    patterns,
    port,
    statements,
    targets,
    with_blocks,
)
from analyzers.machine.libraries import known_names, matplotlib
from analyzers.machine.libraries.numpy import arrays, functions
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
    custom_functions,
    fast_paths,
    function_context,
    grad_modes,
    module_making,
    modules,
    reductions,
    state_dicts,
    tensor_attributes,
    tensor_hooks,
    tensor_methods,
    tensors,
    unknown_tensors,
)
from analyzers.machine.libraries.torch import functions as torch_functions
from analyzers.machine.libraries.torch import intrinsics as torch_intrinsics
from analyzers.machine.objects import attributes, containers, instances, strings, unknown_values
from analyzers.machine.observers import (
    bindings,
    gradient_accumulation,
    graph_liveness,
    loss_targets,
    misdirected_gradients,
    optimizer_steps,
    retained_graphs,
    self_copies,
    soft_targets,
    suspicious_statements,
    untrained_parameters,
)
from analyzers.machine.operators import casts, composite_shapes, composites, derivatives, unknown_ranks
from analyzers.machine.operators import dispatch as operators_dispatch

TABLES_OF: Final = (
    frameworks, likely_adapters, likely_layers, likely_outputs, likely_values, calls, classes, comprehensions,
    conditions, decorators, dispatch, expressions, generators, handlers, imports, linking, loops, names, patterns, port,
    statements, targets, with_blocks,
    known_names, matplotlib, arrays, functions, builtin_functions, builtin_objects, copying, intrinsics, namespaces,
    standard, autograd_entries, custom_functions, fast_paths, function_context, torch_functions, grad_modes,
    torch_intrinsics, modules, module_making, reductions, state_dicts, tensor_attributes, tensor_hooks, tensor_methods,
    tensors, unknown_tensors,
    attributes, containers, instances, strings, unknown_values, bindings, gradient_accumulation, graph_liveness,
    loss_targets, misdirected_gradients, optimizer_steps, retained_graphs, self_copies, soft_targets,
    suspicious_statements, untrained_parameters, casts, composite_shapes, composites, derivatives, operators_dispatch,
    unknown_ranks,
)  # fmt: skip
"""The modules whose import fills a table."""

__all__ = ["TABLES_OF", "Made", "make_instance", "run_module", "run_unknown"]
