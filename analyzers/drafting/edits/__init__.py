"""Makes edits: the building blocks of fixes, and their layout in a file."""
