"""What a run leaves besides its exceptions. Observers read state and record, and only note."""
