"""Who answers for a dotted name, or for a type that Python does not own: torch, numpy, the standard library."""
