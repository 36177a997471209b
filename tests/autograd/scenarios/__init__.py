"""Scenarios, by name: each is run by torch and by the machine, and what both saw is compared."""

from __future__ import annotations

from tests.autograd.scenarios import graphs, operators, walks, writes

SCENARIOS = {
    f"{module.__name__.rsplit('.', 1)[-1]}.{function.__name__}": function
    for module in (graphs, writes, walks, operators)
    for function in module.SCENARIOS
}
