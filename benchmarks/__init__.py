"""Keystrokes, starts and checks, timed beside those of other language servers: see `benchmarks.__main__`."""
