"""From models to dictionaries and JSON."""

import base64
import collections.abc
import dataclasses
import datetime
import decimal
import enum
import json
import math
import pathlib
import uuid

from .errors import PydanticUndefined
from .functional import PlainSerializer, WrapSerializer, positional_count


class Options:
    """What a dump shall hold and how."""

    def __init__(self, *, mode="python", include=None, exclude=None, by_alias=None,
                 exclude_unset=False, exclude_defaults=False, exclude_none=False, context=None,
                 **_):
        self.mode = mode
        self.include = _spread(include)
        self.exclude = _spread(exclude)
        self.by_alias = bool(by_alias)
        self.exclude_unset = exclude_unset
        self.exclude_defaults = exclude_defaults
        self.exclude_none = exclude_none
        self.context = context

    mode_is_json = property(lambda self: self.mode == "json")

    def within(self, key):
        """The same for one part of the value."""
        inner = object.__new__(Options)
        inner.__dict__.update(self.__dict__)
        inner.include = _part(self.include, key)
        inner.exclude = _part(self.exclude, key)
        return inner

    def leaves_out(self, key):
        """Whether a part is not wanted."""
        if self.include is not None and key not in self.include and "__all__" not in self.include:
            return True
        if self.exclude is None:
            return False
        return self.exclude.get(key, self.exclude.get("__all__")) is True


class SerializationInfo:
    """What a serializer may ask."""

    def __init__(self, options, field_name=None):
        self.mode = options.mode
        self.by_alias = options.by_alias
        self.exclude_none = options.exclude_none
        self.context = options.context
        self.field_name = field_name

    def mode_is_json(self):
        """Whether JSON is wanted."""
        return self.mode == "json"


def _spread(wanted):
    """A set of names as a dictionary."""
    if wanted is None or isinstance(wanted, dict):
        return wanted
    return dict.fromkeys(wanted, True)


def _part(wanted, key):
    if wanted is None:
        return None
    inner = wanted.get(key, wanted.get("__all__"))
    return None if inner in (None, True, ...) else _spread(inner)


def dump_model(model, options):
    """The dictionary of a model, or what its own serializer makes."""
    cls = type(model)
    for method in cls.__pydantic_methods__:
        if method.kind == "model_serializer":
            return _own_model(model, method, options)
    return _dump_fields(model, options)


def _own_model(model, method, options):
    function = method.plain
    count = positional_count(function)
    arguments = [model]
    if method.mode == "wrap":
        arguments.append(lambda value: _dump_fields(value, options))
    if count is None or count > len(arguments):
        arguments.append(SerializationInfo(options))
    return dump(function(*arguments), options)


def _dump_fields(model, options):
    cls = type(model)
    if hasattr(cls, "__pydantic_root__"):
        return dump(model.root, options)
    serializers = {name: method for method in cls.__pydantic_methods__
                   if method.kind == "field_serializer" for name in method.fields}
    made = {}
    for name, value in model.__dict__.items():
        field = cls.__pydantic_fields__.get(name)
        if field is None or field.exclude or options.leaves_out(name):
            continue
        if options.exclude_unset and name not in model.__pydantic_fields_set__:
            continue
        if options.exclude_defaults and _is_default(field, value):
            continue
        if options.exclude_none and value is None:
            continue
        key = field.output_name(name) if options.by_alias else name
        method = serializers.get(name) or serializers.get("*")
        made[key] = _dump_field(model, name, value, field, method, options.within(name))
    for name, value in (model.__pydantic_extra__ or {}).items():
        if not options.leaves_out(name) and not (options.exclude_none and value is None):
            made[name] = dump(value, options.within(name))
    for name, computed in cls.__pydantic_computed__.items():
        if not options.leaves_out(name):
            value = getattr(model, name)
            if not (options.exclude_none and value is None):
                key = computed.alias if options.by_alias and computed.alias else name
                method = serializers.get(name)
                made[key] = _dump_field(model, name, value, None, method, options.within(name))
    return made


def _is_default(field, value):
    return field.default is not PydanticUndefined and field.default == value


def _dump_field(model, name, value, field, method, options):
    def dumped(inner):
        return dump(inner, options)

    if method is not None:
        if method.options.get("when_used", "always") == "json" and not options.mode_is_json:
            return dumped(value)
        if value is None and method.options.get("when_used") == "unless-none":
            return None
        function = method.function.__get__(model, type(model))
        arguments = (value, dumped) if method.mode == "wrap" else (value,)
        count = positional_count(function)
        if count is None or count > len(arguments):
            arguments = (*arguments, SerializationInfo(options, name))
        return dump(function(*arguments), options)
    for mark in field.metadata if field is not None else ():
        if isinstance(mark, PlainSerializer):
            if mark.options.get("when_used") == "json" and not options.mode_is_json:
                continue
            return dump(mark.func(value), options)
        if isinstance(mark, WrapSerializer):
            return dump(mark.func(value, dumped), options)
    return dumped(value)


def dump(value, options):
    """Any value with its models as dictionaries; with `mode="json"` as JSON knows it."""
    kind = type(value)
    if kind in (str, int, bool, type(None)):
        return value
    if kind is float:
        return value if not options.mode_is_json or math.isfinite(value) else None
    if hasattr(kind, "__pydantic_fields__"):
        return dump_model(value, options)
    if isinstance(value, dict):
        return _dump_dict(value, options)
    if isinstance(value, (list, tuple, set, frozenset, collections.deque)):
        return _dump_collection(value, kind, options)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: dump(getattr(value, field.name), options.within(field.name))
                for field in dataclasses.fields(value)}
    return to_jsonable(value, options) if options.mode_is_json else value


def _dump_dict(value, options):
    made = {}
    for key, part in value.items():
        if options.leaves_out(key) or options.exclude_none and part is None:
            continue
        new_key = json_key(key, options) if options.mode_is_json else key
        made[new_key] = dump(part, options.within(key))
    return made


def _dump_collection(value, kind, options):
    parts = [dump(part, options.within(index)) for index, part in enumerate(value)
             if not options.leaves_out(index)]
    if options.mode_is_json or kind is list:
        return parts
    if hasattr(kind, "_fields"):
        return kind(*parts)
    try:
        return kind(parts)
    except TypeError:
        # A set of models: dictionaries can't be in a set.
        return parts


def json_key(key, options):
    """A key as JSON has it: text."""
    plain = dump(key, options)
    if plain is None:
        return "None"
    if isinstance(plain, bool):
        return str(plain).lower()
    return plain if isinstance(plain, str) else str(plain)


def enum_value(value):
    """The value of an enum's member."""
    return value.value if isinstance(value, enum.Enum) else value


def to_jsonable(value, options):
    """What JSON has for a value that is no container."""
    if isinstance(value, enum.Enum):
        return dump(value.value, options)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, (int, float)):
        return float(value) if isinstance(value, float) else int(value)
    if isinstance(value, (datetime.datetime, datetime.time)):
        text = value.isoformat()
        return text[:-6] + "Z" if text.endswith("+00:00") else text
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return duration_text(value)
    if isinstance(value, (bytes, bytearray)):
        try:
            return bytes(value).decode()
        except UnicodeDecodeError:
            return base64.b64encode(bytes(value)).decode()
    if isinstance(value, (decimal.Decimal, uuid.UUID, pathlib.PurePath)):
        return str(value)
    if hasattr(value, "get_secret_value") or type(value).__module__.startswith(("pydantic", "ipaddress")):
        return str(value)
    if isinstance(value, collections.abc.Iterable):
        return [dump(part, options) for part in value]
    if hasattr(value, "pattern"):
        return value.pattern
    raise PydanticSerializationError(f"Unable to serialize unknown type: {type(value)}")


class PydanticSerializationError(ValueError):
    """A value that JSON has nothing for."""


def duration_text(span):
    """A span of time in ISO form."""
    sign = "-" if span < datetime.timedelta(0) else ""
    span = abs(span)
    days = f"{span.days}D" if span.days else ""
    hours, rest = divmod(span.seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    exact = f"{seconds}.{span.microseconds:06}".rstrip("0") if span.microseconds else str(seconds)
    clock = "".join([f"{hours}H" if hours else "", f"{minutes}M" if minutes else "",
                     f"{exact}S" if seconds or span.microseconds else ""])
    if not days and not clock:
        return "PT0S"
    return f"{sign}P{days}{'T' if clock else ''}{clock}"


def to_text(plain, indent):
    """JSON text without spaces, or indented."""
    separators = (",", ":") if indent is None else None
    return json.dumps(plain, indent=indent, separators=separators, ensure_ascii=False)
