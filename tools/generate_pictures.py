"""Write `docs/pictures/`: for each program there, the autograd graph of the tensor that its last line names, as SVG.

python tools/generate_pictures.py            # draws the pictures, and removes those of programs that are gone
python tools/generate_pictures.py --check    # fails if the committed pictures are stale
"""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs" / "pictures"


def pictures() -> dict[str, str]:
    """Each picture's text by file name, as `autograd-lsp graph` draws it."""
    return {f"{path.stem}.svg": _draw(path) for path in sorted(PICTURES.glob("*.py"))}


def _draw(path: Path) -> str:
    from autograd_lsp.cli import main as command

    last = len(path.read_text(encoding="utf-8").splitlines())
    drawn = io.StringIO()
    with contextlib.redirect_stdout(drawn):
        status = command(["graph", f"{path}:{last}", "--format", "svg"])
    if status != 0:
        raise SystemExit(f"{path.name}: nothing is known of its last line")
    return drawn.getvalue()


def stale() -> list[str]:
    """The names of the pictures that differ from what is drawn, are missing, or are too many."""
    wanted = pictures()
    there = {path.name: path.read_text(encoding="utf-8") for path in PICTURES.glob("*.svg")}
    return sorted(name for name in wanted.keys() | there.keys() if wanted.get(name) != there.get(name))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    old = stale()
    if parser.parse_args().check:
        for name in old:
            print(f"docs/pictures/{name} is stale: run tools/generate_pictures.py", file=sys.stderr)
        return 1 if old else 0
    wanted = pictures()
    for name in old:
        if name in wanted:
            (PICTURES / name).write_text(wanted[name], encoding="utf-8")
        else:
            (PICTURES / name).unlink()
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main())
