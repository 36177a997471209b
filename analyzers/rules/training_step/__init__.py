"""The training step out of order: the rules AG3xx."""
