"""Our own packages come before whatever the working folder has under their names.

`python -m` puts the working folder first in the import path, where a checkout may have an `analyzers`, a `rich` or a
`queue.py`. This file imports nothing that Python has not loaded before any program starts.
"""

import sys
from os import getcwd
from os.path import abspath, dirname, realpath

SAFE = "-P" if sys.version_info >= (3, 11) else "-I"
"""Has another Python leave its working folder out of the import path. `-I`, which is older, leaves out more, none of
which is needed."""

_HOME = dirname(dirname(dirname(abspath(__file__))))


def own_packages_first() -> list[str]:
    """Take the working folder out of the import path, unless it is ours, and import `analyzers` from beside us.

    Returns the import path as it was.

    Raises:
        ImportError: another package of that name is loaded already.
    """
    before, cwd = sys.path[:], realpath(getcwd())
    others = [entry for entry in sys.path if realpath(entry) != cwd or cwd == realpath(_HOME)]
    sys.path[:] = [_HOME, *others]
    import analyzers  # noqa: PLC0415  (its submodules are found through it from here on)

    sys.path[:] = others
    if dirname(dirname(abspath(analyzers.__file__))) != _HOME:
        raise ImportError(f"another package named `analyzers` is loaded, from {analyzers.__file__}")
    return before
