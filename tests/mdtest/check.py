"""The two runs of a snippet, each held against its comments: every line of the answer is one disagreement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from tests.mdtest.expect import Expected, Raise, Report, Revealed, agrees, allows, expectations, without_expectations
from tests.mdtest.snippets import Case, Snippet
from tests.oracle import Raised, Run
from tests.support.analyzer import Analysis, Claim
from tests.support.judge import raised_as_said

# The effects that show in a gradient or a parameter.
_HARMS = {
    "no-effect-assignment",
    "grad-none",
    "no-gradient-flows",
    "param-not-updated",
    "wrong-gradient",
    "grad-accumulates",
}


def check_torch(snippet: Snippet, runs: Sequence[Run]) -> list[str]:
    """Torch raises exactly where the comments say, or reaches the end, and every reveal holds."""
    expected = expectations(snippet.text)
    problems = [
        f"{_case(case)}{problem}"
        for case, run in zip(snippet.cases, runs, strict=True)
        for problem in _check_case(snippet, expected, case, run)
    ]
    if any(report.severity == "error" for report in expected.reports):
        problems += [
            f"{_case(case)}an error is expected, so torch has to raise here too"
            for case in snippet.cases
            if not any(case.satisfies(item.when) for item in expected.raises)
        ]
    if snippet.fixes and expected.raises:
        problems.append("a fixed snippet must not raise")
    return problems


def check_analyzer(snippet: Snippet, analysis: Analysis, runs: Sequence[Run]) -> list[str]:
    """Every report is expected on its line and none is extra; what is said to raise does; facts are as revealed."""
    expected = expectations(snippet.text)
    reports = Counter(Report(item.at.number, item.severity, item.name) for item in analysis.findings)
    wanted = Counter(expected.reports)
    problems = [_at(snippet, item.line, f"not reported: {item}") for item in (wanted - reports).elements()]
    problems += [_at(snippet, item.line, f"unexpected: {item}") for item in (reports - wanted).elements()]
    for finding in analysis.findings:
        if finding.raises and runs and not any(raised_as_said(finding, run) for run in runs):
            said = f"`{finding.raises.message}` on line {_line(snippet, finding.raises.at.number)}"
            problems.append(_at(snippet, finding.at.number, f"[{finding.name}] torch never raises {said}"))
    for revealed in expected.revealed:
        problems += _check_claims(snippet, revealed, [c for c in analysis.claims if c.at.number == revealed.line])
    return problems


def check_fix(snippet: Snippet, analysis: Analysis, before: Sequence[Run], after: Sequence[Run]) -> list[str]:
    """The fix of the first finding that offers enough of them turns the block before into this one.

    Where that finding tells of silent harm, the fix has to change what is learnt.
    """
    broken = snippet.broken
    assert broken is not None
    offers = [item for item in analysis.findings if len(item.fixes) >= snippet.fixes]
    if not offers:
        return [f"no finding offers fix {snippet.fixes} for the block on line {broken.line}"]
    text = broken.text
    for edit in sorted(offers[0].fixes[snippet.fixes - 1], key=lambda edit: edit.start, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    got, wanted = without_expectations(text), without_expectations(snippet.text)
    problems = [] if got == wanted else [f"the fix yields\n{_indented(got)}instead of\n{_indented(wanted)}"]
    if offers[0].effect in _HARMS and before and [run.learnt for run in before] == [run.learnt for run in after]:
        problems.append("the fix changes no gradient and no parameter")
    return problems


def check_right(before: Sequence[Run], after: Sequence[Run]) -> list[str]:
    """What is set right by hand does other than what was wrong: the harm shows in a gradient or a parameter."""
    same = [run.learnt for run in before] == [run.learnt for run in after]
    return ["what is right leaves the same gradients and parameters as what is wrong"] if same else []


def described(snippet: Snippet, problems: list[str]) -> str:
    """A failure as a person wants to read it."""
    numbered = (f"{number:>5} {line}" for number, line in enumerate(snippet.text.splitlines(), snippet.line))
    head = f"{snippet.path.name}:{snippet.line} “{snippet.heading}”"
    return "\n".join([head, *(f"  - {problem}" for problem in problems), "", *numbered])


def _check_case(snippet: Snippet, expected: Expected, case: Case, run: Run) -> Iterator[str]:
    wanted = [item for item in expected.raises if case.satisfies(item.when)]
    got: list[Raised] = [*run.caught, *([run.raised] if run.raised else [])]
    if run.outcome in ("timeout", "crash"):
        yield f"ended by {run.outcome}"
    for item in wanted:
        if not any(_is(item, raised) for raised in got):
            yield _at(snippet, item.line, f"torch does not do this: {item}")
    if run.raised and not any(_is(item, run.raised) for item in wanted):
        raised = run.raised
        yield _at(snippet, raised.line or 1, f'torch raises {raised.exception} "{raised.message}"')
    for revealed in expected.revealed:
        seen = [item for item in run.observations if item.line == revealed.line]
        if not seen:
            yield _at(snippet, revealed.line, "torch reveals no tensor")
        for observation in seen:
            for name, said in revealed.fields.items():
                for value in getattr(observation, name):
                    concrete = "none" if value is None else value
                    if not allows(said, concrete):
                        yield _at(snippet, revealed.line, f"torch: {name} is {concrete}, not {said}")


def _check_claims(snippet: Snippet, revealed: Revealed, claims: list[Claim]) -> Iterator[str]:
    if not claims:
        yield _at(snippet, revealed.line, "the analyzer has no fact for `reveal`")
    for claim in claims:
        for name, said in revealed.fields.items():
            # A fact does not count versions; torch alone answers for that field.
            if name != "version" and not agrees(said, _spoken(claim, name)):
                yield _at(snippet, revealed.line, f"analyzer: {name} is {_spoken(claim, name)}, not {said}")


def _spoken(claim: Claim, name: str) -> object:
    value = getattr(claim, name)
    if name == "grad_fn" and value is not None:
        return "|".join(sorted(value)) or "none"
    return value


def _is(item: Raise, raised: Raised) -> bool:
    same = (item.line, item.exception) == (raised.line, raised.exception)
    return same and item.message in raised.message


def _line(snippet: Snippet, number: int) -> int:
    return snippet.line + number - 1


def _at(snippet: Snippet, number: int, problem: str) -> str:
    return f"{snippet.path.name}:{_line(snippet, number)} {problem}"


def _case(case: Case) -> str:
    return f"[{case.text}] " if case.text else ""


def _indented(text: str) -> str:
    return "".join(f"      {line}\n" for line in text.splitlines())
