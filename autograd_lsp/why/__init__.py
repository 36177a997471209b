"""Explains torch tracebacks for `autograd-lsp why`.

`log` extracts tracebacks from any text, `messages` interprets torch's messages, `program` finds the files that a
traceback names, `match` compares findings with what was raised, and `around` inspects the graph and the text if no
finding explains it. `answer` combines them; none of them prints.
"""
