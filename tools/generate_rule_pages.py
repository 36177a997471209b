"""Write `docs/rules/`: a page for each rule, which is its module's docstring, and the list of all rules.

python tools/generate_rule_pages.py            # writes the pages, and removes those of rules that are gone
python tools/generate_rule_pages.py --check    # fails if the committed pages are stale
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs" / "rules"

GROUPS = {
    "AG1": "Torch raises",
    "AG2": "The gradient is wrong, missing, or goes nowhere",
    "AG3": "The training step out of order",
    "AG4": "Memory and time",
    "AG0": "Comments that silence findings",
}


def pages() -> dict[str, str]:
    """Each page's text by file name."""
    from analyzers.rules import RULES

    found = {f"{rule.name}.md": f"# {rule.name} ({rule.code})\n\n{rule.doc.strip()}\n" for rule in RULES}
    lines = ["# Rules", ""]
    for prefix, title in GROUPS.items():
        rows = [f"| {r.code} | [{r.name}]({r.name}.md) | {r.summary} |" for r in RULES if r.code.startswith(prefix)]
        if rows:
            lines += [f"## {title}", "", "| code | name | what it finds |", "|---|---|---|", *rows, ""]
    found["index.md"] = "\n".join(lines)
    return found


def stale() -> list[str]:
    """The names of the pages that differ from what is written, are missing, or are too many."""
    wanted = pages()
    there = {path.name: path.read_text(encoding="utf-8") for path in PAGES.glob("*.md")}
    return sorted(name for name in wanted.keys() | there.keys() if wanted.get(name) != there.get(name))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    old = stale()
    if parser.parse_args().check:
        for name in old:
            print(f"docs/rules/{name} is stale: run tools/generate_rule_pages.py", file=sys.stderr)
        return 1 if old else 0
    PAGES.mkdir(parents=True, exist_ok=True)
    wanted = pages()
    for name in old:
        if name in wanted:
            (PAGES / name).write_text(wanted[name], encoding="utf-8")
        else:
            (PAGES / name).unlink()
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main())
