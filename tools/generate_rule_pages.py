"""Write `docs/rules/`: a page for each rule, which is its module's docstring, and the list of all rules.

python tools/generate_rule_pages.py            # writes the pages, and removes those of rules that are gone
python tools/generate_rule_pages.py --check    # fails if the committed pages are stale
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs" / "rules"

GROUPS = {
    "AG1": "Torch raises",
    "AG2": "The gradient is wrong, missing, or goes nowhere",
    "AG3": "The training step out of order",
    "AG4": "Memory and time",
    "AG0": "Comments that silence findings, and what is not analysed",
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


def main() -> int:
    from tools.written import command

    return command(__doc__, Path(__file__).stem, PAGES, "*.md", pages)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main())
