"""Making edits: what fixes are made of, and how they are laid out in a file."""
