"""What is run, and with what: a module, or a function on likely arguments."""
