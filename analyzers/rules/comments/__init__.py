"""Comments that silence findings, and the rules about them: AG0xx."""
