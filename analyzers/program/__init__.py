"""Modules of the workspace and of the prelude: which file an import refers to, and which chunks a file has."""
