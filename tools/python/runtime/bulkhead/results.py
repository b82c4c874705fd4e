"""From a Python value to what the host gets: JSON, and the text that a model reads."""

import base64
import dataclasses
import datetime
import decimal
import enum
import json
import math

from wit_world.imports.types import Content_Text, Output

_ATOMS = frozenset((str, int, float, bool, type(None)))

MAX_NESTING = 100
"""What the host and its clients read is JSON, which most parsers follow some 128 levels deep."""

_encode = json.JSONEncoder(allow_nan=False, ensure_ascii=False).encode


def output(value):
    """The result of a tool: its JSON form, and that form as Python displays it."""
    plain = jsonable(value)
    return Output([Content_Text(clean(display(plain)))], to_json(plain))


def display(plain):
    """Text as it is, everything else as Python shows it."""
    return plain if isinstance(plain, str) else str(plain)


def to_json(plain):
    """JSON text; numbers that JSON does not know (NaN, infinity) become null."""
    try:
        return clean(_encode(plain))
    except ValueError:
        return clean(_encode(_finite(plain)))


def clean(text):
    """The text without lone surrogates, which UTF-8 can't hold."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def jsonable(value, above=()):
    """The value made of dictionaries, lists, text, numbers, booleans and None."""
    kind = type(value)
    if kind in _ATOMS:
        return value
    if id(value) in above:
        return "{...}" if isinstance(value, dict) else "[...]"
    if len(above) >= MAX_NESTING:
        raise ValueError(f"a result can't be nested more than {MAX_NESTING} deep: return it as text")
    inner = (*above, id(value))
    if isinstance(value, enum.Enum):
        return jsonable(value.value, inner)
    if isinstance(value, (str, int, float)):
        return _plain_atom(value)
    if isinstance(value, dict):
        return {_key(key): jsonable(part, inner) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        # Most lists are long and flat: a function call for each number would be most of the cost.
        return [part if type(part) in _ATOMS else jsonable(part, inner) for part in value]
    if isinstance(value, (set, frozenset)):
        return _ordered([jsonable(part, inner) for part in value])
    return _object(value, inner)


def _object(value, above):
    dump = getattr(type(value), "model_dump", None)
    if callable(dump):
        return jsonable(value.model_dump(), above)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]
        return {name: jsonable(getattr(value, name), above) for name in names}
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (bytes, bytearray, memoryview)):
        return _text_of(bytes(value))
    if isinstance(value, decimal.Decimal):
        return str(value)
    return str(value)


def _plain_atom(value):
    """The number or text inside of an instance of a subclass."""
    for kind in (str, int, float):
        if isinstance(value, kind):
            return kind.__str__(value) if kind is str else kind(value)
    return str(value)


def _key(key):
    if type(key) is str:
        return key
    return str(jsonable(key))


def _ordered(values):
    """Sets have no order; a sorted list reads the same each time."""
    try:
        return sorted(values)
    except TypeError:
        return values


def _text_of(data):
    """Bytes as text where they are UTF-8, otherwise in base64."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return base64.b64encode(data).decode("ascii")


def _finite(plain):
    if isinstance(plain, float):
        return plain if math.isfinite(plain) else None
    if isinstance(plain, dict):
        return {key: _finite(value) for key, value in plain.items()}
    if isinstance(plain, list):
        return [_finite(value) for value in plain]
    return plain
