"""Pure functions from the analyzer's plain data to the text that a person or a tool reads."""
