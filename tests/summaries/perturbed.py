"""`python -m tests.summaries.perturbed --count 1000`: programs in which something changes between two calls.

A statement that changes what a name stands for, or what it leads to, goes into a program at a random place: into a
loop, between two calls, before the first. What a summary rests on has then changed, or not; a program with replays
leaves what one without leaves in both cases. Prints how many of the statements made a difference to what is found.
"""

from __future__ import annotations

import argparse
import ast
import random
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from analyzers.host import Host
from tests.corpus.labels import corpus
from tests.summaries.shadow import compared

CHANGES = (
    "{0}.extra = 1",
    "{0}.training = False",
    "{0}.eval()",
    "{0}.train()",
    "{0}.append(1)",
    "{0}.clear()",
    "{0}[0] = 0",
    "{0} = {0} + 1",
    "{0} += 1",
    "{0}.add_(1)",
    "{0} = {0}.detach()",
    "{0} = {0}.clone()",
    "{0}.requires_grad_(False)",
    "{0}.requires_grad_(True)",
    "{0}.weight = None",
    "{0}.weight.data.zero_()",
    "{0}.weight.requires_grad_(False)",
    "{0}.register_forward_hook(lambda module, given, out: out.detach())",
    "{0}.forward = lambda *given: torch.ones(2)",
    "{0}.zero_grad()",
    "{0} = None",
    "del {0}.weight",
    "torch.set_grad_enabled(False)",
    "torch.set_grad_enabled(True)",
    "for one in {0}.parameters(): one.requires_grad = False",
    "for one in {0}.parameters(): one.grad = None",
)
"""What raises in a program is caught in it."""

BLOCKS = (ast.Module, ast.FunctionDef, ast.For, ast.While, ast.With)


@dataclass(frozen=True, slots=True)
class Perturbed:
    """A program, and the same with one more statement."""

    text: str
    changed: str
    change: str


def programs() -> list[Path]:
    """Those in which a function is called: there is something to replay."""
    paths = sorted({program.path for program in corpus() if program.path.is_file()})
    return [path for path in paths if "def " in path.read_text(encoding="utf-8")]


def perturbed(paths: list[Path], count: int, seed: int) -> Iterator[Perturbed]:
    chance = random.Random(seed)
    while count:
        text = chance.choice(paths).read_text(encoding="utf-8")
        place = _place(ast.parse(text), chance)
        if place is None:
            continue
        before, names = place
        change = chance.choice(CHANGES).format(chance.choice(names))
        lines = text.split("\n")
        indent = " " * before.col_offset
        added = f"{indent}try:\n{indent}    {change}\n{indent}except Exception:\n{indent}    pass"
        lines.insert(before.lineno - 1, added)
        count -= 1
        yield Perturbed(text, "\n".join(lines), change)


def _place(tree: ast.Module, chance: random.Random) -> tuple[ast.stmt, list[str]] | None:
    """A statement of the program, and the names bound before it in its module or function."""
    scopes = [tree, *(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))]
    scope = chance.choice(scopes)
    blocks = [node for node in ast.walk(scope) if isinstance(node, BLOCKS) and _is_in(node, scope)]
    statement = chance.choice(chance.choice(blocks).body)
    if getattr(statement, "decorator_list", None):
        return None
    bound = [node for node in ast.walk(scope) if isinstance(node, ast.Name | ast.arg)]
    names = sorted(
        {node.id if isinstance(node, ast.Name) else node.arg for node in bound if node.lineno < statement.lineno}
    )
    return (statement, names) if names else None


def _is_in(node: ast.AST, scope: ast.AST) -> bool:
    """Not in a function or class of its own within the scope."""
    inner = (ast.FunctionDef, ast.ClassDef, ast.Lambda)
    waiting = [scope]
    while waiting:
        one = waiting.pop()
        if one is node:
            return True
        waiting += [child for child in ast.iter_child_nodes(one) if not isinstance(child, inner)]
    return False


def _found(text: str) -> list[tuple[str, str]]:
    host = Host()
    host.set_text("/program.py", text)
    return [(finding.code, finding.message) for finding in host.snapshot().findings("/program.py")]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.summaries.perturbed", description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    telling = different = 0
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "program.py"
        for number, one in enumerate(perturbed(programs(), options.count, options.seed)):
            file.write_text(one.changed, encoding="utf-8")
            telling += _found(one.text) != _found(one.changed)
            for what in compared(file):
                different += 1
                print(f"{number}: {one.change}: {what}\n{one.changed}", flush=True)
    print(f"{options.count} statements, {telling} of them change what is found; {different} differences")
    return min(different, 1)


if __name__ == "__main__":
    sys.exit(main())
