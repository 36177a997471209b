"""What a run produces besides exceptions. Observers read the state and the record, and only make notes."""
