"""Blinding: knowledge that is taken away from a program never makes anything false.

`hidden.same(e)` is `e`, from a module that the analyzer cannot see. So torch does what it did before, and what the
analyzer says of the blinded program must still be borne out: each error, and each fact.
"""
