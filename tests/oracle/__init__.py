"""The judge: a program is run under real torch, and what torch did is written down.

A *program* is a file, a folder with `main.py`, or a text. Its *run* says how it ended, which exceptions it swallowed,
which warnings it gave, and, for each statement that binds a tensor, what was true of that tensor right after it.

`run_program` runs one, `run_batch` runs thousands: each worker process imports torch once and forks for every program,
so that no program sees what another has done.
"""

from tests.oracle.batch import Pool, run_batch, run_program
from tests.oracle.record import Caught, Observation, Program, Raised, Run, Warned

__all__ = ["Caught", "Observation", "Pool", "Program", "Raised", "Run", "Warned", "run_batch", "run_program"]
