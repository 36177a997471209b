"""What the tests share: the adapter to the analyzer, and how a claim is held against an observation."""
