"""Which files are meant: by a command line, by a folder, in spite of git; and the text of each."""
