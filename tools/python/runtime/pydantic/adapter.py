"""`TypeAdapter`: validation of any type, not of models alone. `validate_call`: of arguments."""

import functools
import inspect
import sys
import typing

from . import build, dumping
from .errors import Invalid, ValidationError
from .main import parse_json


class TypeAdapter:
    """Validates and dumps values of a type."""

    def __init__(self, type, *, config=None, module=None, _parent_depth=2):
        frame = sys._getframe(1)
        scope = {**frame.f_globals, **frame.f_locals}
        if (config or {}).get("arbitrary_types_allowed"):
            scope["__pydantic_arbitrary__"] = True
        self._type = type
        self._validate = build.build(type, scope)
        self._strict = bool((config or {}).get("strict"))

    def _title(self):
        name = getattr(self._type, "__name__", None)
        is_plain = isinstance(self._type, type) and typing.get_origin(self._type) is None
        return name if is_plain and name else build.label(self._type)

    def validate_python(self, value, /, *, strict=None, **_):
        """The value as the type wants it."""
        try:
            return self._validate(value, self._strict if strict is None else strict)
        except Invalid as error:
            raise ValidationError(self._title(), error.lines) from None

    def validate_json(self, data, /, *, strict=None, **_):
        """The value that JSON text says, as the type wants it."""
        return self.validate_python(parse_json(data, self._title()), strict=strict)

    def dump_python(self, value, /, **options):
        """The value with its models as dictionaries."""
        return dumping.dump(value, dumping.Options(**options))

    def dump_json(self, value, /, *, indent=None, **options):
        """The value as JSON, in bytes."""
        plain = dumping.dump(value, dumping.Options(**{**options, "mode": "json"}))
        return dumping.to_text(plain, indent).encode()

    def json_schema(self, *, by_alias=True, mode="validation", ref_template="#/$defs/{model}", **_):
        """The JSON Schema of the type."""
        from .json_schema import schema_of

        return schema_of(self._type, by_alias, mode, ref_template)

    def get_default_value(self, **_):
        """Types have no default of their own."""


def parse_obj_as(kind, value, **_):
    """The older form of `TypeAdapter(kind).validate_python(value)`."""
    return TypeAdapter(kind).validate_python(value)


def validate_call(func=None, /, *, config=None, validate_return=False):
    """Validates the arguments of a function by its annotations."""

    def decorate(function):
        signature = inspect.signature(function)
        scope = {**function.__globals__}
        if (config or {}).get("arbitrary_types_allowed"):
            scope["__pydantic_arbitrary__"] = True

        @functools.wraps(function)
        def checked(*positional, **named):
            bound = signature.bind(*positional, **named)
            lines = []
            for name, value in bound.arguments.items():
                parameter = signature.parameters[name]
                if parameter.annotation is parameter.empty or parameter.kind in (
                        parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                    continue
                try:
                    bound.arguments[name] = build.build(parameter.annotation, scope)(value, False)
                except Invalid as error:
                    lines += error.at(name).lines
            if lines:
                raise ValidationError(function.__name__, lines)
            result = function(*bound.args, **bound.kwargs)
            if validate_return and signature.return_annotation is not signature.empty:
                return build.build(signature.return_annotation, scope)(result, False)
            return result

        return checked

    return decorate if func is None else decorate(func)
