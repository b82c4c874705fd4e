"""What is set anew for each call: variables, packages, randomness, clocks, standard streams."""

import io
import logging
import os
import random
import sys
import time


SEED_BYTES = 32
"""Nobody guesses so many. Python takes 2,500 by default, which is a larger part of a short call."""


def enter(environment, file_name):
    """Makes the process look as the host wants it for this call."""
    os.environ.clear()
    for name, value in environment.variables:
        os.environ[name] = value
    sys.path[:0] = environment.packages
    sys.argv = [file_name]
    sys.stdin = io.StringIO()
    # The snapshot holds the generator's state: without a new seed each call drew the same numbers.
    random.seed(int.from_bytes(os.urandom(SEED_BYTES)))
    logging._startTime = time.time_ns()


def leave():
    """Sends what was printed and is still held back."""
    for stream in (sys.stdout, sys.__stdout__, sys.stderr, sys.__stderr__):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            # The tool replaced or closed it; what it holds is the tool's own affair.
            continue
