"""What lies outside the workspace: whether an installed library's class is a module or an optimizer, and the like.

The *environment* is the Python in which the user's programs run. A *kind* is what calling a name gives: `module`,
`optimizer`, `scheduler`, `dataset`, `tensor` or `unknown`; of the name of a package, `missing` says that it cannot be
imported.

    find.py       which Python that is, and where its packages lie; it is never run
    child.py      a process of its own, in which jedi looks names up; it may take long, and may be killed
    answers.py    what is known by now, asked in the background and kept on the disk
    torch_version.py  which torch is there, and whether it is the one that the rules were tested with

Whoever asks gets at once what is known, at first nothing: an answer comes later, and the analysis is then run again.
"""

from __future__ import annotations

from autograd_lsp.environment.answers import Environment, Place, cache_folder, cache_lies_below
from autograd_lsp.environment.find import fingerprint
from autograd_lsp.environment.torch_version import remark_on

__all__ = ["Environment", "Place", "cache_folder", "cache_lies_below", "fingerprint", "remark_on"]
