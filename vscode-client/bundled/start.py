"""Starts the server that comes with the extension, whichever Python runs this.

What all Pythons share lies in `libs/any`, what is built for one of them in a folder such as `libs/cp312`.
"""

import os
import runpy
import sys

LIBS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "libs")

# Processes that help run this file too, under another name; they take over the import path.
if __name__ == "__main__":
    sys.path[:0] = [os.path.join(LIBS, f"cp{sys.version_info[0]}{sys.version_info[1]}"), os.path.join(LIBS, "any")]
    runpy.run_module("autograd_lsp", run_name="__main__", alter_sys=True)
