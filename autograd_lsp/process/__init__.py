"""The process that a face runs in: how it ends, what it loads late, and how it uses memory."""
