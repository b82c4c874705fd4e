"""Validators and serializers that a model's author writes."""

import inspect

from .errors import Invalid, LineError, PydanticCustomError


class ValidationInfo:
    """What a validator may ask about the field that it is called for."""

    def __init__(self, data, field_name, config, context=None, mode="python"):
        self.data = data
        self.field_name = field_name
        self.config = config
        self.context = context
        self.mode = mode


FieldValidationInfo = ValidationInfo


def guarded(function, value, *arguments):
    """Calls a validator; what it raises to refuse the value becomes an error of the value."""
    try:
        return function(*arguments)
    except Invalid:
        raise
    except PydanticCustomError as error:
        line = LineError(error.type, error.message(), value, error.context)
    except ValueError as error:
        line = LineError("value_error", f"Value error, {error}", value, {"error": error})
    except AssertionError as error:
        line = LineError("assertion_error", f"Assertion failed, {error}", value, {"error": error})
    raise Invalid([line])


def positional_count(function):
    """How many arguments by position a function takes at most; None for any number."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 1
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
        return None
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(parameter.kind in kinds for parameter in parameters)


class _Functional:
    """A function beside a type, in `Annotated[type, …]`."""

    def __init__(self, func, *_, **options):
        self.func = func
        self.options = options

    def call(self, value, *more):
        """Calls the function, with information about the field if it takes that."""
        count = positional_count(self.func)
        arguments = (value, *more)
        if count is not None and count > len(arguments):
            arguments = (*arguments, ValidationInfo({}, None, {}))
        return guarded(self.func, value, *arguments)


class BeforeValidator(_Functional):
    """Sees the value before the type does."""


class AfterValidator(_Functional):
    """Sees the value that the type made."""


class PlainValidator(_Functional):
    """Stands in the place of the type."""


class WrapValidator(_Functional):
    """Stands around the type and calls it itself."""


class PlainSerializer(_Functional):
    """Makes what is dumped."""


class WrapSerializer(_Functional):
    """Makes what is dumped of what would be."""


class SkipValidation:
    """Takes every value as it is."""

    def __class_getitem__(cls, item):
        import typing

        return typing.Annotated[item, cls()]


class InstanceOf:
    """Takes instances alone."""

    def __class_getitem__(cls, item):
        import typing

        return typing.Annotated[item, cls(item)]

    def __init__(self, kind=None):
        self.kind = kind


class Decorated:
    """A method that a decorator of this module marked; the class takes it in."""

    def __init__(self, kind, function, fields=(), mode="after", options=None):
        self.kind = kind
        self.function = function
        self.fields = fields
        self.mode = mode
        self.options = options or {}
        self.name = None

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, instance, owner):
        return self.function.__get__(instance, owner)

    @property
    def plain(self):
        """The function without `classmethod` or `staticmethod` around it."""
        return getattr(self.function, "__func__", self.function)

    def bound(self, owner):
        """The function with its class, if it takes one."""
        return self.function.__get__(None, owner)


def _class_method(function):
    if isinstance(function, (classmethod, staticmethod)):
        return function
    first = next(iter(inspect.signature(function).parameters), None)
    return staticmethod(function) if first not in ("cls", "self") else classmethod(function)


def field_validator(field, /, *fields, mode="after", check_fields=None, **options):
    """Marks a method that checks or changes the values of fields."""

    def mark(function):
        return Decorated("field", _class_method(function), (field, *fields), mode, options)

    return mark


def validator(*fields, pre=False, each_item=False, always=False, check_fields=None, allow_reuse=False):
    """The older form of `field_validator`."""

    def mark(function):
        options = {"v1": True, "each_item": each_item, "always": always}
        return Decorated("field", _class_method(function), fields, "before" if pre else "after", options)

    return mark


def model_validator(*, mode):
    """Marks a method that checks or changes the whole model or its data."""

    def mark(function):
        if mode != "after":
            function = _class_method(function)
        return Decorated("model", function, (), mode)

    return mark


def root_validator(func=None, *, pre=False, skip_on_failure=False, allow_reuse=False):
    """The older form of `model_validator`: sees a dictionary of values."""

    def mark(function):
        mode = "before" if pre else "after"
        return Decorated("model", _class_method(function), (), mode, {"v1": True})

    return mark if func is None else mark(func)


def field_serializer(*fields, mode="plain", **options):
    """Marks a method that makes what is dumped of fields."""

    def mark(function):
        return Decorated("field_serializer", function, fields, mode, options)

    return mark


def model_serializer(func=None, /, *, mode="plain", **options):
    """Marks a method that makes what is dumped of the model."""

    def mark(function):
        return Decorated("model_serializer", function, (), mode, options)

    return mark if func is None else mark(func)
