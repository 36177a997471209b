"""In the place of the package with the grammar: the worker's parser has it."""


def language() -> None:
    """What `tree_sitter.Language` takes."""
