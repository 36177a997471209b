"""Build the playground, the page of the site on which the analyzer runs in the browser, from `playground/`.

python tools/build_playground.py build/site/playground    # a folder that any server of files can serve

npm brings what runs Python there, the parser and the editor. The page asks no other server for anything.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "playground"
MODULES = SOURCE / "node_modules"
RUNTIME = ("pyodide.asm.mjs", "pyodide.asm.wasm", "pyodide-lock.json", "python_stdlib.zip")
BESIDE = ("web-tree-sitter/web-tree-sitter.wasm", "tree-sitter-python/tree-sitter-python.wasm")
_BUNDLED = (
    "--bundle", "--format=esm", "--minify", "--target=es2022", "--log-level=warning",
    *(f"--external:{name}" for name in ("node:*", "crypto", "fs", "fs/promises", "module", "path", "url", "vm", "ws")),
)  # fmt: skip
"""How esbuild makes one file of each script; what only Node.js has stays apart, and is not asked for in a browser."""
_THEN = (1980, 1, 1, 0, 0, 0)
"""Of all that is packed: the same text makes the same archive."""


def examples() -> dict[str, str]:
    """By what each is called in the list."""
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted((ROOT / "examples").glob("*.py"))}


def install() -> str | None:
    """What npm brings, as the lock has it; or why there is none of it."""
    npm = shutil.which("npm")
    if npm is None:
        return "npm is not installed"
    command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"]
    done = subprocess.run(command, cwd=SOURCE, capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else f"npm cannot get the packages: {done.stderr.strip()}"


def build(out: Path) -> None:
    """After `install`, and in the place of what is there."""
    shutil.rmtree(out, ignore_errors=True)
    (out / "pyodide").mkdir(parents=True)
    command = [MODULES / ".bin" / "esbuild", SOURCE / "page.js", SOURCE / "worker.js", *_BUNDLED, f"--outdir={out}"]
    subprocess.run([str(word) for word in command], check=True)
    for name in RUNTIME:
        shutil.copy(MODULES / "pyodide" / name, out / "pyodide")
    for path in (*(MODULES / name for name in BESIDE), SOURCE / "index.html", SOURCE / "page.css"):
        shutil.copy(path, out)
    (out / "examples.json").write_text(json.dumps(examples()), encoding="utf-8")
    (out / "licenses.txt").write_text("\n\n".join(_licenses()) + "\n", encoding="utf-8")
    with zipfile.ZipFile(out / "analyzer.zip", "w") as archive:
        for name, path in _packed():
            archive.writestr(zipfile.ZipInfo(name, _THEN), path.read_bytes(), zipfile.ZIP_DEFLATED)


def _licenses() -> Iterator[str]:
    """Of each package that the page is made of."""
    packages = json.loads((SOURCE / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    for place, package in packages.items():
        if place and not package.get("dev"):
            name = place.removeprefix("node_modules/")
            texts = [path.read_text(encoding="utf-8") for path in sorted((SOURCE / place).glob("LICENSE*"))]
            yield "\n\n".join([f"{name} {package['version']}: {package.get('license')}", *texts])


def _packed() -> Iterator[tuple[str, Path]]:
    """What runs in the browser: the analyzer, what it is asked through, and what stands in for tree-sitter."""
    for path in sorted((SOURCE / "python").glob("*.py")):
        yield path.name, path
    for package in ("analyzers", "autograd_lsp"):
        for path in sorted((ROOT / package).rglob("*")):
            if path.is_file() and path.suffix not in (".pyc", ".so", ".pyd"):
                yield path.relative_to(ROOT).as_posix(), path


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    out = parser.parse_args().out
    if (why := install()) is not None:
        print(f"The site has no playground: {why}", file=sys.stderr)
        return 0
    build(out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
