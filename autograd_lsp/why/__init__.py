"""Tracebacks in, explanations out: what `autograd-lsp why` knows beside the analyzer.

`log` reads tracebacks out of any text, `messages` knows torch's words, `program` finds the files that a traceback
names, `match` holds findings against what was raised, and `around` looks at the graph and the text where no finding
says it. `answer` puts them in order; none of them prints.
"""
