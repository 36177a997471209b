"""The forms of what `why` answers, and the words that they share."""
