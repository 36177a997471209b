"""One module for each command, each with `add` (its arguments) and `run` (its exit code)."""
