"""Values from JSON made into what an annotation asks for.

A model sends `"5"` for a number and `"[1, 2]"` for a list; both are taken for what they mean. What
can't be meant is a `Mismatch`, which says what was expected and what came.
"""

import enum
import inspect
import json
import types
import typing

from pydantic import TypeAdapter, ValidationError
from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError

from .record import record

_ABSENT = (inspect.Parameter.empty, typing.Any, object)
_UNIONS = (typing.Union, types.UnionType)
_CONTAINERS = (list, dict, tuple, set, frozenset)
_NAMES = {str: "a string", int: "an integer", float: "a number", bool: "true or false",
          list: "a list", dict: "an object", type(None): "null"}


class Mismatch(Exception):
    """A value that an annotation can't be made of: `details` are pairs of path and text."""

    def __init__(self, details):
        super().__init__("; ".join(text for _, text in details))
        self.details = details


def coerce(value, annotation, namespace):
    """The value as the annotation wants it; as it came where the annotation says nothing."""
    if type(value) is annotation:
        return value
    annotation = _resolved(annotation, namespace)
    if annotation in _ABSENT or _unresolved(annotation):
        return record(value)
    if annotation is str:
        return _text(value)
    value = _parsed(value, annotation)
    try:
        return TypeAdapter(annotation).validate_python(_by_member_name(value, annotation))
    except ValidationError as error:
        raise Mismatch([_detail(part) for part in error.errors()]) from None
    except (PydanticSchemaGenerationError, PydanticUserError):
        # A class that JSON says nothing about: the tool gets what came.
        return record(value)


def takes_none(annotation):
    """Whether an annotation such as `Optional[int]` allows None."""
    if annotation is None or annotation is type(None):
        return True
    return (
        typing.get_origin(annotation) in _UNIONS and type(None) in typing.get_args(annotation)
    )


def _resolved(annotation, namespace):
    """The annotation itself where it was written as text."""
    if isinstance(annotation, str):
        try:
            return eval(annotation, namespace)  # The tool's own source, never an argument.
        except Exception:
            return inspect.Parameter.empty
    return annotation


def _unresolved(annotation):
    return isinstance(annotation, (str, typing.ForwardRef, typing.TypeVar))


def _text(value):
    if isinstance(value, str):
        return value
    if isinstance(value, (int, float)):
        return str(value)
    raise Mismatch([((), f"expected a string, got {_shown(value)}")])


def _parsed(value, annotation):
    """What a text says in JSON, where something else than text is asked for."""
    if not isinstance(value, str) or not _wants_structure(annotation):
        return value
    try:
        parsed = json.loads(value)
    except ValueError:
        return value
    return parsed if isinstance(parsed, (list, dict)) or parsed is None else value


def _wants_structure(annotation):
    origin = typing.get_origin(annotation)
    if origin in _UNIONS:
        choices = [part for part in typing.get_args(annotation) if part is not type(None)]
        return str not in choices and any(_wants_structure(part) for part in choices)
    if origin is typing.Annotated:
        return _wants_structure(typing.get_args(annotation)[0])
    kind = origin or annotation
    if not isinstance(kind, type):
        return False
    return (
        issubclass(kind, _CONTAINERS)
        or hasattr(kind, "model_fields")
        or hasattr(kind, "__dataclass_fields__")
        or kind.__module__ == "collections.abc" and not issubclass(str, kind)
    )


def _by_member_name(value, annotation):
    """The value of an enum's member where its name came instead."""
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        values = [member.value for member in annotation]
        if value not in values and isinstance(value, str) and value in annotation.__members__:
            return annotation[value].value
    return value


def _detail(part):
    return part["loc"], f"{part['msg']}, got {_shown(part['input'])}"


def _shown(value):
    """A value in the words of JSON, cut where it is long."""
    text = json.dumps(value, default=str, ensure_ascii=False)
    text = text if len(text) <= 80 else text[:77] + "..."
    kind = _NAMES.get(type(value))
    return text if kind is None or value is None else f"{text} ({kind})"
