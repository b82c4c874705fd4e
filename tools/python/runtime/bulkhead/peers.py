"""Other tools of the same caller, as functions."""

import json

from componentize_py_types import Err
from wit_world.imports import peers
from wit_world.imports import types as wit

from .results import jsonable, to_json

_REASONS = {
    peers.PeerError_Unknown: "there is no such tool",
    peers.PeerError_Depth: "tools call each other too deeply, or in a circle",
}


class ToolCallError(RuntimeError):
    """Another tool could not be called, or failed."""


class Peer:
    """A tool that is called like a function, with its arguments by name."""

    def __init__(self, name):
        self.__name__ = name

    def __repr__(self):
        return f"<tool {self.__name__}>"

    def __call__(self, *positional, **arguments):
        if len(positional) == 1 and isinstance(positional[0], dict) and not arguments:
            arguments = positional[0]
        elif positional:
            raise TypeError(
                f"{self.__name__}() takes its arguments by name, for example "
                f"{self.__name__}(name=value)"
            )
        try:
            answer = peers.call(self.__name__, to_json(jsonable(arguments)))
        except Err as error:
            raise ToolCallError(f"{self.__name__}: {_reason(error.value)}") from None
        if answer.structured is not None:
            return json.loads(answer.structured)
        return "\n".join(_text(part) for part in answer.content)


def install(names, namespace):
    """Makes the tools callable in the namespace of a source, which may define over them."""
    for name in names:
        namespace[name] = Peer(name)


def _text(part):
    if isinstance(part, wit.Content_Text):
        return part.value
    if isinstance(part, wit.Content_Link):
        return part.value.uri
    return f"({len(part.value.data)} bytes of {part.value.media_type})"


def _reason(error):
    if type(error) in _REASONS:
        return _REASONS[type(error)]
    if not isinstance(error, peers.PeerError_Tool):
        return error.value
    inner = error.value
    if isinstance(inner, wit.ToolError_InvalidInput):
        return "; ".join(f"{problem.at or '/'}: {problem.message}" for problem in inner.value)
    if isinstance(inner, wit.ToolError_Upstream):
        return inner.value.message
    return inner.value
