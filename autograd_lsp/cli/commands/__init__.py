"""One module for each command, whose `run` gives the exit code."""
