"""Write `schemas/`: the JSON schemas of the configuration files and of an editor's settings.

python tools/generate_schemas.py            # writes them
python tools/generate_schemas.py --check    # fails if the committed ones are stale
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "schemas"


def schemas() -> dict[str, str]:
    """Each one's text by file name."""
    from autograd_lsp.config import schema

    made = {"autograd-lsp": schema.file_schema(), "settings": schema.settings_schema()}
    return {f"{name}.schema.json": json.dumps(document, indent=2) + "\n" for name, document in made.items()}


def stale() -> list[str]:
    """The names of those that differ from what is written, are missing, or are too many."""
    wanted = schemas()
    there = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*")}
    return sorted(name for name in wanted.keys() | there.keys() if wanted.get(name) != there.get(name))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    if parser.parse_args().check:
        old = stale()
        for name in old:
            print(f"schemas/{name} is stale: run tools/generate_schemas.py", file=sys.stderr)
        return 1 if old else 0
    FOLDER.mkdir(exist_ok=True)
    for name, text in schemas().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main())
