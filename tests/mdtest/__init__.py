"""Snippets in Markdown that the analyzer and torch must both bear out."""
