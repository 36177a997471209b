"""Modules of the workspace and of the prelude: which file an import means, and what a file is made of."""
