"""What is run, and on what: a module, or a function on likely arguments."""
