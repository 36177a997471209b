"""Every claim of the analyzer, held against real torch."""
