"""Faults where torch refuses an in-place write, or refuses to run backward after one."""
