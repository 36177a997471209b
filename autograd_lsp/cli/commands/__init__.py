"""One module for each command, whose `run` returns the exit code."""
