"""`python -m autograd_lsp`, safe to run inside any project.

`-m` puts the working directory first in the import path, so a project's own `analyzers`, `rich` or `queue.py` would be
imported in the place of ours. The working directory therefore leaves the path before anything else is imported, and
`analyzers` is taken from beside this package. A folder named `autograd_lsp` hides this file itself; there the
`autograd-lsp` script, or Python's own `-P`, is the way in.
"""

import sys
from os import getcwd
from os.path import abspath, dirname, realpath

_HOME = dirname(dirname(abspath(__file__)))


def _own_packages_first() -> None:
    cwd = realpath(getcwd())
    sys.path[:] = [entry for entry in sys.path if realpath(entry) != cwd or cwd == realpath(_HOME)]
    sys.path.insert(0, _HOME)


if __name__ == "__main__":
    _own_packages_first()
    import analyzers  # noqa: F401  (its submodules are found through it from here on)

    sys.path.remove(_HOME)
    from autograd_lsp.cli import main

    sys.exit(main())
