"""Processes that help, and import nothing from the working folder, whichever way Python starts them.

`spawn` and `forkserver`, which macOS, Windows and newer Pythons use, run `python -c "from multiprocessing ..."`, and
`-c` puts the working folder first into the import path: a `pickle.py` of the checkout would be run in each of them. The
modules themselves are found: a process takes over the import path of the one that started it.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import util
from typing import Any

from autograd_lsp.process.own import SAFE


def pool(count: int, initializer: Callable[..., None], arguments: tuple[Any, ...]) -> ProcessPoolExecutor:
    """As many processes, started by the default method of this Python."""
    keep_working_folder_out()
    return ProcessPoolExecutor(count, initializer=initializer, initargs=arguments)


def keep_working_folder_out() -> None:
    """For all processes that `multiprocessing` starts from now on.

    It has no setting for this. What all its methods ask, for the helpers that track resources as well, is which flags a
    new interpreter is to be given.
    """
    flags = util._args_from_interpreter_flags  # type: ignore[attr-defined]
    if SAFE not in flags():
        util._args_from_interpreter_flags = lambda: [*flags(), SAFE]  # type: ignore[attr-defined]
