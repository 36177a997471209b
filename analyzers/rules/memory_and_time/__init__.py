"""Memory that is kept and time that is spent for nothing: the rules AG4xx."""
