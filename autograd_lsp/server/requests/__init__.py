"""What an editor asks for: one module for each request, or for those that belong together."""
