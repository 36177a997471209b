"""After any edits, what the host says is what a new host says of the same texts."""
