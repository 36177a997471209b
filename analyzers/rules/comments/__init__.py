"""Comments that suppress findings, and the rules about them: AG0xx."""
