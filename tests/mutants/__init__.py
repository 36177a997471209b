"""Public training scripts, broken on purpose: what torch does with each mutant, and what the analyzer said before.

`mutate` breaks a script's text, `worker` runs texts on data made up by `stage` and writes down what `watch` sees,
`label` says what a mutant lost against its original, and `score` counts what the analyzer foretold. No script of
others is kept here: `python -m tests.mutants FOLDER...` takes them from where they are.
"""
