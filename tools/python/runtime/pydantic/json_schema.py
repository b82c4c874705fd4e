"""JSON Schema of models and types."""

import collections.abc
import dataclasses
import datetime
import decimal
import enum
import pathlib
import types
import typing
import uuid

from . import build
from .dumping import Options, PydanticSerializationError, dump
from .errors import PydanticUndefined
from .fields import FieldInfo

_SIMPLE = {
    str: {"type": "string"}, int: {"type": "integer"}, float: {"type": "number"},
    bool: {"type": "boolean"}, None: {"type": "null"}, type(None): {"type": "null"},
    typing.Any: {}, object: {}, bytes: {"type": "string", "format": "binary"},
    datetime.datetime: {"type": "string", "format": "date-time"},
    datetime.date: {"type": "string", "format": "date"},
    datetime.time: {"type": "string", "format": "time"},
    datetime.timedelta: {"type": "string", "format": "duration"},
    uuid.UUID: {"type": "string", "format": "uuid"},
    list: {"items": {}, "type": "array"}, tuple: {"items": {}, "type": "array"},
    set: {"items": {}, "type": "array", "uniqueItems": True},
    frozenset: {"items": {}, "type": "array", "uniqueItems": True},
    dict: {"additionalProperties": True, "type": "object"},
}
_LIMITS = {
    "gt": "exclusiveMinimum", "ge": "minimum", "lt": "exclusiveMaximum", "le": "maximum",
    "multiple_of": "multipleOf", "pattern": "pattern",
}
_DECIMAL_PATTERN = r"^(?!^[-+.]*$)[+-]?0*\d*\.?\d*$"
_NAMES = {str: "string", int: "integer", float: "number", bool: "boolean", list: "array"}


def schema_of(annotation, by_alias=True, mode="validation", ref_template="#/$defs/{model}"):
    """The schema of a model or type; models inside of it stand under `$defs`."""
    maker = _Maker(by_alias, mode, ref_template)
    schema = maker.schema(annotation, {})
    name = maker.names.get(annotation) if isinstance(annotation, type) else None
    if name is not None and not maker.is_used_inside(name):
        schema = maker.definitions.pop(name)
    if maker.definitions:
        schema = {"$defs": dict(sorted(maker.definitions.items())), **schema}
    return schema


class _Maker:
    """Makes one schema and keeps the models that it meets."""

    def __init__(self, by_alias, mode, ref_template):
        self.by_alias = by_alias
        self.mode = mode
        self.ref_template = ref_template
        self.definitions = {}
        self.names = {}
        self.references = {}

    def is_used_inside(self, name):
        """Whether anything but the root refers to the definition."""
        return self.references.get(name, 0) > 1

    def schema(self, annotation, scope):
        """The schema of an annotation."""
        annotation = build.resolved(annotation, scope)
        try:
            if annotation in _SIMPLE:
                return dict(_SIMPLE[annotation])
        except TypeError:
            pass
        origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
        if origin is not None:
            return self._generic(origin, arguments, scope)
        if isinstance(annotation, typing.TypeVar):
            return {}
        if annotation is decimal.Decimal:
            if self.mode == "serialization":
                return {"type": "string"}
            return {"anyOf": [{"type": "number"}, {"type": "string", "pattern": _DECIMAL_PATTERN}]}
        if hasattr(annotation, "__supertype__"):
            return self.schema(annotation.__supertype__, scope)
        if isinstance(annotation, type):
            return self._class(annotation, scope)
        return {}

    def _class(self, kind, scope):
        if hasattr(kind, "__json_schema__"):
            return dict(kind.__json_schema__)
        if hasattr(kind, "__pydantic_fields__"):
            return self._defined(kind, self._model)
        if issubclass(kind, enum.Enum):
            return self._defined(kind, self._enum)
        if dataclasses.is_dataclass(kind) or typing.is_typeddict(kind):
            return self._defined(kind, self._plain_class)
        if issubclass(kind, pathlib.PurePath):
            return {"type": "string", "format": "path"}
        if kind.__module__ == "ipaddress":
            return {"type": "string", "format": kind.__name__[:4].lower()}
        for base in (str, int, float):
            if issubclass(kind, base):
                return dict(_SIMPLE[base])
        return {}

    def _defined(self, kind, make):
        if kind not in self.names:
            name = kind.__name__.replace("[", "_").replace("]", "_").replace(", ", "_")
            self.names[kind] = name
            self.definitions[name] = {}
            self.definitions[name] = make(kind)
        name = self.names[kind]
        self.references[name] = self.references.get(name, 0) + 1
        return {"$ref": self.ref_template.format(model=name)}

    def _enum(self, kind):
        values = [member.value for member in kind]
        schema = {"enum": values, "title": kind.__name__}
        if len(values) == 1:
            schema = {"const": values[0], "title": kind.__name__}
        kinds = {type(value) for value in values}
        if len(kinds) == 1 and (name := _NAMES.get(kinds.pop())):
            schema["type"] = name
        text = kind.__doc__
        if text and text not in ("An enumeration.",) and "__doc__" in kind.__dict__:
            schema["description"] = text.strip()
        return schema

    def _model(self, kind):
        from .main import plan_of, scope_of

        plan_of(kind)
        scope = scope_of(kind)
        if hasattr(kind, "__pydantic_root__"):
            field = kind.__pydantic_fields__["root"]
            schema = {**self._field_schema(field, scope), "title": kind.__name__}
            schema.update(self._about(field))
            return _described(kind, schema)
        properties, required = {}, []
        for name, field in kind.__pydantic_fields__.items():
            if self.mode == "serialization" and field.exclude:
                continue
            key = self._key(field, name)
            properties[key] = self._property(key, field, scope)
            if field.is_required() or self.mode == "serialization":
                required.append(key)
        if self.mode == "serialization":
            for name, computed in kind.__pydantic_computed__.items():
                schema = self.schema(computed.annotation(), scope)
                properties[name] = {**schema, "readOnly": True, "title": _title(name)}
                required.append(name)
        schema = {"properties": properties}
        if required:
            schema["required"] = required
        schema["title"] = kind.model_config.get("title") or kind.__name__
        schema["type"] = "object"
        extra = kind.model_config.get("extra")
        if extra in ("forbid", "allow"):
            schema["additionalProperties"] = extra == "allow"
        more = kind.model_config.get("json_schema_extra")
        schema = _described(kind, schema)
        if callable(more):
            more(schema)
        elif more:
            schema.update(more)
        return schema

    def _key(self, field, name):
        if not self.by_alias:
            return name
        if self.mode == "serialization":
            return field.output_name(name)
        key = field.input_names(name, {})[0]
        return key if isinstance(key, str) else name

    def _property(self, key, field, scope):
        schema = self._field_schema(field, scope)
        about = self._about(field)
        if "$ref" in schema or _is_optional_reference(schema):
            return {**schema, **about} if about else schema
        return {**schema, "title": _title(key), **about}

    def _field_schema(self, field, scope):
        if field.discriminator:
            return self._tagged(field, scope)
        schema = self.schema(field.annotation, scope)
        for mark in field.metadata:
            schema = _limited(schema, getattr(mark, "constraints", {}))
        return _limited(schema, field.constraints)

    def _tagged(self, field, scope):
        choices, mapping = [], {}
        for part in typing.get_args(field.annotation):
            reference = self.schema(part, scope)
            choices.append(reference)
            inner = part.__pydantic_fields__[field.discriminator]
            for value in typing.get_args(inner.annotation):
                mapping[str(value)] = reference["$ref"]
        return {"discriminator": {"mapping": mapping, "propertyName": field.discriminator},
                "oneOf": choices}

    def _about(self, field):
        about = {}
        for name in ("title", "description", "examples", "deprecated"):
            if getattr(field, name) is not None:
                about[name] = getattr(field, name)
        if field.default is not PydanticUndefined:
            try:
                about["default"] = dump(field.default, Options(mode="json"))
            except PydanticSerializationError:
                pass
        if isinstance(field.json_schema_extra, dict):
            about.update(field.json_schema_extra)
        return about

    def _plain_class(self, kind):
        properties, required = {}, []
        scope = build._scope_of(kind, {})
        defaults = {field.name: field for field in dataclasses.fields(kind)} \
            if dataclasses.is_dataclass(kind) else {}
        for name, annotation in build.hints(kind).items():
            schema = self.schema(annotation, scope)
            if "$ref" not in schema:
                schema["title"] = _title(name)
            field = defaults.get(name)
            if field is not None and field.default is not dataclasses.MISSING:
                schema["default"] = dump(field.default, Options(mode="json"))
            elif field is None and name in getattr(kind, "__required_keys__", ()) or (
                    field is not None and field.default_factory is dataclasses.MISSING):
                required.append(name)
            properties[name] = schema
        schema = {"properties": properties}
        if required:
            schema["required"] = required
        return {**schema, "title": kind.__name__, "type": "object"}

    def _generic(self, origin, arguments, scope):
        if origin is typing.Annotated:
            return self._annotated(arguments, scope)
        if origin in (typing.Union, types.UnionType):
            choices = []
            for part in arguments:
                schema = self.schema(part, scope)
                if schema not in choices:
                    choices.append(schema)
            return choices[0] if len(choices) == 1 else {"anyOf": choices}
        if origin is typing.Literal:
            return _literal(arguments)
        if origin in (list, collections.deque, collections.abc.Sequence, collections.abc.Iterable):
            return {"items": self.schema(arguments[0], scope), "type": "array"}
        if origin in (set, frozenset, collections.abc.Set):
            return {"items": self.schema(arguments[0], scope), "type": "array", "uniqueItems": True}
        if origin is tuple:
            return self._tuple(arguments, scope)
        if isinstance(origin, type) and issubclass(origin, collections.abc.Mapping):
            inner = self.schema(arguments[1], scope) if len(arguments) > 1 else {"type": "integer"}
            return {"additionalProperties": inner or True, "type": "object"}
        if arguments and origin in build._WRAPPERS:
            return self.schema(arguments[0], scope)
        return {}

    def _annotated(self, arguments, scope):
        schema = self.schema(arguments[0], scope)
        for mark in arguments[1:]:
            schema = _limited(schema, getattr(mark, "constraints", {}))
            if isinstance(mark, FieldInfo):
                schema = {**schema, **self._about(mark)}
        return schema

    def _tuple(self, arguments, scope):
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return {"items": self.schema(arguments[0], scope), "type": "array"}
        return {
            "maxItems": len(arguments), "minItems": len(arguments),
            "prefixItems": [self.schema(part, scope) for part in arguments], "type": "array",
        }


def _is_optional_reference(schema):
    """A model or null; like a model it has a title of its own."""
    choices = schema.get("anyOf", ())
    return len(choices) == 2 and "$ref" in choices[0] and choices[1] == {"type": "null"}


def _literal(values):
    plain = [value.value if isinstance(value, enum.Enum) else value for value in values]
    schema = {"const": plain[0]} if len(plain) == 1 else {"enum": plain}
    kinds = {type(value) for value in plain}
    if len(kinds) == 1 and (name := _NAMES.get(kinds.pop())):
        schema["type"] = name
    return schema


def _limited(schema, limits):
    if not limits:
        return schema
    if "anyOf" in schema:
        return {**schema, "anyOf": [part if part.get("type") == "null" else _limited(part, limits)
                                    for part in schema["anyOf"]]}
    schema = dict(schema)
    for name, key in _LIMITS.items():
        if limits.get(name) is not None:
            schema[key] = limits[name]
    suffix = {"array": "Items", "object": "Properties"}.get(schema.get("type"), "Length")
    for name, key in (("min_length", "min"), ("max_length", "max")):
        if limits.get(name) is not None:
            schema[key + suffix] = limits[name]
    return schema


def _described(kind, schema):
    text = kind.__dict__.get("__doc__")
    if text:
        import inspect

        schema["description"] = inspect.cleandoc(text)
    return schema


def _title(name):
    return name.replace("_", " ").title()
