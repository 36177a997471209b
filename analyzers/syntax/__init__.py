"""Text to tree: error-tolerant parsing, chunks that an edit elsewhere leaves equal, spans and suppression comments."""
