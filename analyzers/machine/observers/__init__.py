"""What a run leaves behind beyond what it raises. Observers read state and record, and write to the record only."""
