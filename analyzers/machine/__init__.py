"""The abstract machine: runs a program on abstract values, and notes facts and events."""
