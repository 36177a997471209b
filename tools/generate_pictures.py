"""Write `docs/pictures/`: for each program there, the autograd graph of the tensor that its last line names, as SVG.

python tools/generate_pictures.py            # draws the pictures, and removes those of programs that are gone
python tools/generate_pictures.py --check    # fails if the committed pictures are stale
"""

from __future__ import annotations

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
    from autograd_lsp.cli import main as command_line

    last = len(path.read_text(encoding="utf-8").splitlines())
    drawn = io.StringIO()
    with contextlib.redirect_stdout(drawn):
        status = command_line(["graph", f"{path}:{last}", "--format", "svg"])
    if status != 0:
        raise SystemExit(f"{path.name}: nothing is known of its last line")
    return drawn.getvalue()


def main() -> int:
    from tools.written import command

    return command(__doc__, Path(__file__).stem, PICTURES, "*.svg", pictures)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main())
