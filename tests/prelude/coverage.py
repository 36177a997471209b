"""How much of torch's Python layer is modelled: `python -m tests.prelude.coverage`."""

import importlib
import inspect

from tests.prelude.loader import public_names

ABSTRACT = {
    "torch.nn": {"Container", "Parameter", "Buffer", "UninitializedBuffer", "UninitializedParameter",
                 "LinearCrossEntropyOptions", "DataParallel"},
    "torch.optim": set(),
    "torch.optim.lr_scheduler": set(),
    "torch.distributions": {"Wishart", "LKJCholesky", "GeneralizedPareto", "CatTransform", "CorrCholeskyTransform",
                            "CumulativeDistributionTransform", "IndependentTransform", "LowerCholeskyTransform",
                            "PositiveDefiniteTransform", "ReshapeTransform", "StackTransform",
                            "StickBreakingTransform"},
    "torch.utils.data": {"DFIterDataPipe", "DataChunk", "IterDataPipe", "MapDataPipe", "non_deterministic",
                         "guaranteed_datapipes_determinism", "functional_datapipe", "runtime_validation_disabled"},
    "torch.nn.utils.parametrizations": set(),
    "torch.nn.init": set(),
    "torch.autograd.functional": set(),
}  # fmt: skip
"""Namespaces, and what of them the machine itself provides or is left unknown."""


def documented(dotted):
    """The public classes of a namespace of torch; its functions too where it has no classes."""
    module = importlib.import_module(dotted)
    names = getattr(module, "__all__", None) or vars(module)
    found = {n: getattr(module, n) for n in names if not n.startswith("_")}
    own = {n: v for n, v in found.items() if str(getattr(v, "__module__", "")).startswith(dotted.rsplit(".", 1)[0])}
    classes = {n for n, v in own.items() if inspect.isclass(v) and v.__module__ != "torch"}
    return classes or {n for n, v in own.items() if inspect.isroutine(v)}


def missing(dotted):
    return documented(dotted) - set(public_names(dotted)) - ABSTRACT[dotted]


if __name__ == "__main__":
    for dotted in ABSTRACT:
        known, absent = documented(dotted), missing(dotted)
        modelled = known & set(public_names(dotted))
        print(f"{dotted}: {len(modelled)} of {len(known)} modelled; not modelled: {sorted(known - modelled) or 'none'}")
        assert not absent, absent
