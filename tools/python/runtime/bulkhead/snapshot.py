"""What is done once, before the snapshot that all calls start from."""

import gc
import json
import os
import sys

from . import stdlib
from .web import tls

tls.install()  # http.client and urllib.request know https only where there is `ssl`.
stdlib.load()

from . import hashing, refusals, waiting, web, zones  # noqa: E402  (they change modules that are loaded above)

web.install()
zones.install()
hashing.install()
waiting.install()
refusals.install()

GC_THRESHOLD = 20_000
"""New objects until the collector runs: short calls never pay for it, long ones still collect."""

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
_INPUTS = (
    {"text": "aa", "count": "1", "ratio": 0.5, "flags": "[true]", "item": {"name": "x"},
     "color": "red", "kind": "b"},
    {"text": "aa", "count": 2},
    {"count": "many", "other": 1},
)


def rehearse(runtime, types):
    """Uses everything once, with nothing printed, so that caches are full in the snapshot."""
    source = types.Source(types.Language.PYTHON, _REHEARSAL, None)
    agent = json.dumps({"id": "agent-0", "name": "a", "blocks": [{"label": "b", "value": ""}]})
    environment = types.Environment([], [], agent, [])
    kept = sys.stdout, sys.stderr
    with open(os.devnull, "w") if os.path.exists(os.devnull) else _Void() as void:
        sys.stdout = sys.stderr = void
        try:
            runtime.describe(source)
            for arguments in _INPUTS:
                runtime.call(source, json.dumps(arguments), [], environment)
            script = types.Source(types.Language.PYTHON, "a = 1\na + 1", None)
            runtime.run(script, environment)
        finally:
            sys.stdout, sys.stderr = kept


class _Void:
    """A stream that forgets."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False

    def write(self, text):
        """Takes text."""
        return len(text)

    def flush(self):
        """Holds nothing back."""


def seal():
    """Leaves nothing of the build behind, and nothing that calls would have to touch."""
    os.environ.clear()
    sys.path[:] = []
    sys.path_importer_cache.clear()
    sys.dont_write_bytecode = True
    for name in ("tool", "__main__"):
        sys.modules.pop(name, None)
    for stream in (sys.stdout, sys.stderr):
        # Each line reaches the host when it is printed; what can't be encoded does not raise.
        stream.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True,
                           write_through=False)
    gc.collect()
    gc.freeze()
    gc.set_threshold(GC_THRESHOLD)
