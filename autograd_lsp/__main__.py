"""`python -m autograd_lsp`, safe to run inside any project.

The working folder leaves the import path before anything else is imported. A folder named `autograd_lsp` hides this
file itself, and what `-m` imports before it is read from the working folder, too; there the `autograd-lsp` script, or
Python's own `-P`, is the way in.
"""

import sys

from autograd_lsp.process.own import own_packages_first

if __name__ == "__main__":
    own_packages_first()
    from autograd_lsp.cli import main

    sys.exit(main())
