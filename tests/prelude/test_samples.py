"""On torch's own samples of modules and optimizers, the machine agrees with torch: a part of the whole coverage."""

import itertools
import warnings

import pytest

from tests.prelude import cases, modules, optimizers
from tests.prelude.machine_side import Analyzer
from tests.prelude.report import score

ANALYZER = Analyzer()
MODULES = 3
OPTIMIZERS = 12
"""Programs of each; `python -m tests.prelude.modules` and `python -m tests.prelude.optimizers` run all."""


def check(name, programs, lived_with):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = score(name, programs, ANALYZER)
    told = [f"{program.name}: {difference}" for program, found in result.differences for difference in found]
    if name in lived_with:
        assert result.verdict == lived_with[name], told
    else:
        assert result.verdict == "agrees", told or result.crashes


@pytest.mark.parametrize("name", modules.INFOS)
def test_module(name):
    check(name, itertools.islice(modules.programs(name), MODULES), {})


OPTIMIZERS_LIVED_WITH = {
    "LBFGS": "has unknowns",  # Of what it keeps, numbers may be tensors.
}


@pytest.mark.parametrize("name", optimizers.INFOS)
def test_optimizer(name):
    check(name, itertools.islice(optimizers.programs(name), OPTIMIZERS), OPTIMIZERS_LIVED_WITH)


CASES_LIVED_WITH = {
    "case_forward_before_init": "disagrees",  # A missing attribute of a module is unknown, and no error.
}
"""What is said of a program as a whole where that is neither `agrees` nor `has unknowns`."""


@pytest.mark.parametrize("program", cases.programs(), ids=lambda program: program.name)
def test_case(program):
    result = score(program.name, [program], ANALYZER)
    told = [str(difference) for _, found in result.differences for difference in found if difference.is_wrong]
    assert result.verdict in {CASES_LIVED_WITH.get(program.name, "agrees"), "has unknowns"}, told or result.crashes
