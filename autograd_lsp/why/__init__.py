"""Tracebacks in, explanations out: what `autograd-lsp why` knows beside the analyzer.

`log` reads tracebacks out of any text, `messages` knows torch's words, `program` finds the files that a traceback names,
`match` holds findings against what was raised, `around` looks at the graph where no finding does. None of them prints.
"""
