"""Where the offsets of the analyzer lie in a text, what a text is with edits made, and the pages that texts link to."""
