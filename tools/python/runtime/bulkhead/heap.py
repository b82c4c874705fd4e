"""The free memory of the snapshot, arranged so that a call writes to few pages.

The imports before the snapshot leave thousands of small holes all over the heap. New objects go
into holes first, each on another page, and each page that is written to is copied for the call.
So all holes are filled before the snapshot, and calls take their memory in one piece behind them.
"""

import gc
import sys
import types

_LARGEST_HOLE = 2 << 20
_GRAIN = 16
"""Pieces of memory are multiples of this."""
_SMALLEST = 2
"""Bytes shorter than this are not made anew."""
RESERVE = 1 << 20
"""Memory in one piece behind the last hole: a call that needs less never asks for more."""


def fill_holes():
    """Things that fill all holes; who keeps them keeps the holes filled."""
    fillers = []
    # Nothing fits so much but the end of the heap, which begins where this is.
    end = id(bytes(_LARGEST_HOLE))
    for size in _sizes():
        fillers += _below(end, lambda size=size: bytes(size))
    fillers += _below(end, object)
    return fillers


def _below(end, make):
    """Makes one thing after the other as long as they fit into holes before the end."""
    while id(made := make()) < end:
        yield made


def _sizes():
    """From large to small: a small filler in a large hole leaves a smaller hole."""
    size = _LARGEST_HOLE
    while size > _SMALLEST:
        yield size
        # Large pieces in coarse steps; what these leave, the smaller ones fill.
        size -= max(_GRAIN, size >> 4)
    yield _SMALLEST


def reserve():
    """Makes the end of the heap large enough for a short call, all zero."""
    bytes(RESERVE)


def gather_code(use):
    """Puts the code that `use` runs side by side: Python writes into code while it runs."""
    run = _code_of(use)
    found = [function for function in gc.get_objects()
             if isinstance(function, types.FunctionType) and function.__code__ in run]
    # None of the old code is freed before all is new: the next piece would take its place.
    code = [(function, function.__code__, function.__code__.replace()) for function in found]
    for function, _, new in code:
        function.__code__ = new


def _code_of(use):
    """The code of all Python functions that run in a call."""
    run = set()
    sys.setprofile(lambda frame, event, _: run.add(frame.f_code))
    try:
        use()
    finally:
        sys.setprofile(None)
    return run
