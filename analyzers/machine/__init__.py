"""The abstract machine: runs a program on abstract values and leaves facts and events behind."""
