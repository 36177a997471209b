"""Rules about the text of a file, which no run shows: AG0xx. Comments that suppress findings, and what is left out."""
