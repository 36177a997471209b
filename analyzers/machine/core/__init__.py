"""The abstract machine itself: its memory, ids, places, choices, budget and record, plus the tables that the other
rooms fill. It knows nothing about statements, operators, tensor rules or library names."""
