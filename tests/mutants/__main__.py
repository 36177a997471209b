"""See `tests.mutants.score`."""

from tests.mutants.score import main

main()
