"""The language server: one module for each feature, `requests/` for those that only answer, `app` for what all share.

The way of a change: `documents` applies it to our copy of the text, `app` hands the text to the analyzer (which
cancels what it was doing), `publishing` computes the findings again on the worker thread and sends them for exactly the
version they were computed from.
"""
