"""Programs labelled by real torch, and the analyzer's score on them."""
