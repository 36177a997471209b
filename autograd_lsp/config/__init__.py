"""What the user wants reported, and of which files.

A *layer* is what one place says: a configuration file, the command line, an editor. Later layers go over earlier ones:
a `select` replaces the selection below it, the rest adds to it. A *selector* names rules: `AG104`,
`saved-tensor-modified`, all that begin with `AG1`, or `ALL`; where several speak of one rule the longest one counts.

    selectors.py  words that name rules
    layer.py      one layer, and how it is read from a table of plain data
    rules.py      which rules speak about a file
    files.py      which configuration file a path belongs to
"""

from __future__ import annotations

from autograd_lsp.config.files import FILES, Configuration
from autograd_lsp.config.layer import ConfigError, Layer, is_below, read_layer

__all__ = ["FILES", "ConfigError", "Configuration", "Layer", "is_below", "read_layer"]
