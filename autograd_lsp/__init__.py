"""The faces of the analyzer: a command line and a language server."""

__version__ = "0.1.0"
