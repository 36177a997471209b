"""The abstract machine: runs a program on abstract values, and records facts and events."""
