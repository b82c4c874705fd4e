"""What is done once, before the snapshot that all calls start from."""

import contextlib
import gc
import json
import os
import sys

from . import census, heap, stdlib
from .web import tls

tls.install()  # http.client and urllib.request know https only where there is `ssl`.
stdlib.load()

import pydantic.json_schema  # noqa: E402, F401  (models import it when it is first needed)

from . import hashing, refusals, waiting, web, zones  # noqa: E402  (they change modules that are loaded above)

web.install()
zones.install()
hashing.install()
waiting.install()
refusals.install()

GC_THRESHOLD = 20_000
"""New objects until the collector runs: short calls never pay for it, long ones still collect."""

_kept = []
"""What is there to be in the snapshot, and is of no use to a call."""

_REHEARSAL = '''
import asyncio, dataclasses, datetime, enum, json, re
from pydantic import BaseModel, Field

class Color(enum.Enum):
    RED = "red"

class Item(BaseModel):
    """One thing.

    Attributes:
        name: What it is called.
    """
    name: str = Field(..., description="Its name")
    count: int = 1

@dataclasses.dataclass
class Pair:
    left: int
    right: int

def rehearse(text: str, count: int = 1, ratio: Optional[float] = None, flags: List[bool] = None,
             item: Item = None, color: Color = Color.RED, kind: Literal["a", "b"] = "a"):
    """Tries what tools do.

    Args:
        text (str): Text.
        count (int): Number.
        ratio (float): Share.
        flags (list): Flags.
        item (Item): Thing.
        color (Color): Color.
        kind (str): Kind.
    """
    print(text)
    if count > 1:
        raise ValueError(f"{count} is too many")
    return {"text": text, "pair": Pair(1, 2), "item": item, "day": datetime.date(2020, 1, 1),
            "match": bool(re.match("a+", text))}
'''
_SHORTEST = "def shortest(number: int) -> int:\n    return number + 1\n"
_REPETITIONS = 100
"""Python counts in its code how often a line has run, and writes a faster form of it for the types
that it saw; after so many runs it is done with that, and calls no longer write to code."""
_INPUTS = (
    {"text": "aa", "count": "1", "ratio": 0.5, "flags": "[true]", "item": {"name": "x"},
     "color": "red", "kind": "b"},
    {"text": "aa", "count": 2},
    {"count": "many", "other": 1},
)


def rehearse(runtime, types):
    """Uses everything, with nothing printed, so that caches are full in the snapshot."""
    with _quiet():
        runtime.describe(types.Source(types.Language.PYTHON, _REHEARSAL, None))
        _use(runtime, types)
    gc.collect()
    _kept.append(heap.fill_holes())
    heap.gather_code(lambda: _use_shortly(runtime, types, 1))
    with _quiet():
        for _ in range(_REPETITIONS):
            _use(runtime, types)


def _use(runtime, types):
    """Calls in which much happens, and a script."""
    source = types.Source(types.Language.PYTHON, _REHEARSAL, None)
    agent = json.dumps({"id": "agent-0", "name": "a", "blocks": [{"label": "b", "value": ""}]})
    environment = types.Environment([], [], agent, [])
    for arguments in _INPUTS:
        runtime.call(source, json.dumps(arguments), [], environment)
    runtime.run(types.Source(types.Language.PYTHON, "a = 1\na + 1", None), environment)


def _use_shortly(runtime, types, repetitions):
    """The call in which least happens: done last, it finds in place what it needs."""
    source = types.Source(types.Language.PYTHON, _SHORTEST, "shortest")
    environment = types.Environment([], [], None, [])
    for _ in range(repetitions):
        runtime.call(source, '{"number": 1}', [], environment)


@contextlib.contextmanager
def _quiet():
    """Forgets what is printed."""
    kept = sys.stdout, sys.stderr
    sys.stdout = sys.stderr = _Void()
    try:
        yield
    finally:
        sys.stdout, sys.stderr = kept


class _Void:
    """A stream that forgets."""

    def write(self, text):
        """Takes text."""
        return len(text)

    def flush(self):
        """Holds nothing back."""


def seal(runtime, types):
    """Leaves nothing of the build behind, and nothing that calls would have to touch."""
    sys.dont_write_bytecode = True
    for stream in (sys.stdout, sys.stderr):
        # Each line reaches the host when it is printed; what can't be encoded does not raise.
        stream.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True,
                           write_through=False)
    _forget()
    gc.set_threshold(GC_THRESHOLD)
    gc.collect()
    _kept.append(_running())
    _kept.append(census.take())
    _use_shortly(runtime, types, _REPETITIONS)
    _forget()
    gc.collect()
    _kept.append(heap.fill_holes())
    gc.freeze()
    heap.reserve()


def _forget():
    """Takes away what the build and the rehearsal left."""
    os.environ.clear()
    sys.path[:] = []
    sys.path_importer_cache.clear()
    for name in ("tool", "__main__"):
        sys.modules.pop(name, None)


def _running():
    """What the imports that are under way would free when they end: it would leave new holes."""
    frame = sys._getframe(1)
    found = []
    while frame is not None:
        found += [frame, frame.f_code, *frame.f_locals.values()]
        frame = frame.f_back
    return found
