"""The addresses of all objects in the snapshot, for `immortal.py`, which makes them immortal.

Whoever uses an object counts itself in its header. In a snapshot that all calls share, each page
with such a count would be copied for each call. Python does not count uses of immortal objects;
nothing in Python can make an object immortal, so that is done to the finished component.

The list is 32-bit words, the lowest byte first: eight words of `marker()`, the number of pairs that
follow, and for each object its address and that of its type. The first object is None, of which
it is known that it is immortal already.
"""

import array
import gc
import hashlib
import sys
import types

_SUBJECT = b"bulkhead: objects of the snapshot"
_CODE_PARTS = ("co_consts", "co_names", "co_filename", "co_name", "co_qualname", "co_linetable",
               "co_exceptiontable")
_CODE_NAMES = ("co_varnames", "co_cellvars", "co_freevars")
"""Each reading makes a new tuple of these; only the names in it last."""


def marker():
    """What the list begins with; made at run time, it stands nowhere else in the snapshot."""
    return hashlib.sha256(_SUBJECT).digest()


def take():
    """The list of all objects that can be reached, as an array of words."""
    words = array.array("I", marker())
    words.append(0)
    start = len(words)
    seen = _Seen()
    pending = [None, *gc.get_objects()]
    pending.reverse()
    while pending:
        found = pending.pop()
        address = id(found)
        if seen.add(address):
            words.append(address)
            words.append(id(type(found)))
            pending += _parts(found)
    words[start - 1] = (len(words) - start) // 2
    if sys.byteorder != "little":
        words.byteswap()
    return words


def _parts(found):
    """What an object refers to; some of it the garbage collector does not know."""
    parts = gc.get_referents(found)
    parts.append(type(found))
    if isinstance(found, types.CodeType):
        parts += [getattr(found, name) for name in _CODE_PARTS]
        for name in _CODE_NAMES:
            parts += getattr(found, name)
    elif isinstance(found, type):
        parts += gc.get_referents(type.__dict__["__dict__"].__get__(found))
        parts += [found.__mro__, found.__bases__, found.__name__, found.__qualname__]
    return parts


class _Seen:
    """A set of addresses. One bit for each eight bytes of memory: a set of numbers would be larger
    than all objects in it."""

    def __init__(self):
        self._bits = bytearray(1 << 20)

    def add(self, address):
        """Whether the address is new."""
        place, bit = address >> 6, 1 << (address >> 3 & 7)
        if place >= len(self._bits):
            self._bits.extend(bytes(place + 1 - len(self._bits)))
        if self._bits[place] & bit:
            return False
        self._bits[place] |= bit
        return True
