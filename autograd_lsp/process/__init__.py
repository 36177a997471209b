"""The process that a face runs in: how it ends, and how it uses memory."""
