"""Faults where the gradient is wrong, missing or goes nowhere, and nothing is raised: the rules AG2xx."""
