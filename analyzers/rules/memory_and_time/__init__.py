"""Wasted memory and time: the rules AG4xx."""
