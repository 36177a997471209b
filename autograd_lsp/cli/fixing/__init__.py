"""Safe fixes, made by `check --fix` and shown by `check --diff`: in memory, on the disk, and as a diff."""
