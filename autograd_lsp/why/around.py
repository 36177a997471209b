"""Where no finding says what happened."""
from __future__ import annotations
def look(raised, reading, way, forward):
    return []
