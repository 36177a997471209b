"""Notebooks, for an analyzer that knows programs alone.

    program.py    a notebook as one program, and the way back to its cells
    source.py     where the characters of a cell stand in the file
    ipython.py    what a cell says beside Python

Whose cells they are, a file's or an editor's, is not known here.
"""
