"""Validators of annotations: functions that take a value and whether to be strict."""

import collections
import collections.abc
import dataclasses
import datetime
import decimal
import enum
import ipaddress
import pathlib
import re
import types
import typing
import uuid

from . import functional, scalars
from .constraints import constrained
from .errors import (
    Invalid, LineError, PydanticSchemaGenerationError, PydanticUndefinedAnnotation, invalid,
)
from .fields import FieldInfo

_SCALARS = {
    str: scalars.string, int: scalars.integer, float: scalars.number, bool: scalars.boolean,
    bytes: scalars.raw_bytes, decimal.Decimal: scalars.decimal_number, uuid.UUID: scalars.unique_id,
    datetime.datetime: scalars.moment, datetime.date: scalars.day,
    datetime.time: scalars.clock_time, datetime.timedelta: scalars.duration,
    None: scalars.none, type(None): scalars.none, typing.Any: scalars.any_value,
    object: scalars.any_value,
}
_UNIONS = (typing.Union, types.UnionType)
_SEQUENCES = (list, tuple, set, frozenset, collections.deque)
_VIEWS = (collections.abc.KeysView, collections.abc.ValuesView, collections.abc.ItemsView)
_WRAPPERS = tuple(getattr(typing, name) for name in ("Required", "NotRequired", "ReadOnly")
                  if hasattr(typing, name)) + (typing.Final, typing.ClassVar)


def build(annotation, scope):
    """The validator of an annotation; names in it are looked up in `scope`."""
    annotation = resolved(annotation, scope)
    try:
        if annotation in _SCALARS:
            return _SCALARS[annotation]
    except TypeError:
        pass
    origin = typing.get_origin(annotation)
    if origin is not None:
        return _generic(annotation, origin, typing.get_args(annotation), scope)
    if isinstance(annotation, typing.TypeVar):
        return build(annotation.__bound__ or typing.Any, scope)
    if type(annotation).__name__ == "TypeAliasType":
        return _late(lambda: build(annotation.__value__, scope))
    if hasattr(annotation, "__supertype__"):
        return build(annotation.__supertype__, scope)
    if isinstance(annotation, type):
        return _class(annotation, scope)
    if annotation in (typing.Callable, collections.abc.Callable):
        return _callable
    if isinstance(annotation, re.Pattern):
        return _pattern
    raise PydanticSchemaGenerationError(
        f"Unable to generate pydantic-core schema for {annotation!r}. Set "
        "`arbitrary_types_allowed=True` in the model_config to ignore this error."
    )


def resolved(annotation, scope):
    """What an annotation in quotes, or a name used before its definition, stands for."""
    while isinstance(annotation, (str, typing.ForwardRef)):
        text = annotation if isinstance(annotation, str) else annotation.__forward_arg__
        try:
            annotation = eval(text, scope)
        except NameError as error:
            raise PydanticUndefinedAnnotation(str(error)) from None
    return annotation


def _late(make):
    """A validator that is made when it is first used: types may refer to themselves."""
    made = []

    def validate(value, strict):
        if not made:
            made.append(make())
        return made[0](value, strict)

    return validate


def _class(kind, scope):
    if hasattr(kind, "__pydantic_validate__"):
        return kind.__pydantic_validate__
    if hasattr(kind, "__validate__"):
        return kind.__validate__
    if issubclass(kind, enum.Enum):
        return _enumeration(kind)
    if typing.is_typeddict(kind):
        return _typed_dict(kind, scope)
    if dataclasses.is_dataclass(kind):
        return _dataclass(kind, scope)
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return _named_tuple(kind, scope)
    if kind in (list, tuple, set, frozenset, collections.deque):
        return _collection(kind, scalars.any_value)
    if kind in (dict, collections.OrderedDict, collections.defaultdict, collections.abc.Mapping):
        return _mapping(dict, scalars.any_value, scalars.any_value)
    if kind in (collections.abc.Sequence, collections.abc.Iterable, collections.abc.Collection):
        return _collection(list, scalars.any_value)
    if kind is collections.abc.Callable:
        return _callable
    if issubclass(kind, pathlib.PurePath):
        return _made_of_text(kind, "path_type", "Input is not a valid path")
    if kind.__module__ == "ipaddress":
        return _made_of_text(kind, "ip_address", f"Input is not a valid {kind.__name__}")
    if kind is re.Pattern:
        return _pattern
    if kind is type:
        return _instance(type, scope)
    for base in (str, int, float, bytes):
        if issubclass(kind, base):
            return _subclass(kind, _SCALARS[base])
    return _instance(kind, scope)


def _instance(kind, scope):
    if not scope.get("__pydantic_arbitrary__") and kind is not type:
        raise PydanticSchemaGenerationError(
            f"Unable to generate pydantic-core schema for {kind!r}. Set "
            "`arbitrary_types_allowed=True` in the model_config to ignore this error."
        )
    return instance_of(kind)


def instance_of(kind):
    """Takes instances of the class alone."""

    def validate(value, strict):
        if isinstance(value, kind):
            return value
        raise invalid("is_instance_of", f"Input should be an instance of {kind.__name__}", value,
                      **{"class": kind.__name__})

    return validate


def _subclass(kind, validate_base):
    def validate(value, strict):
        return value if isinstance(value, kind) else kind(validate_base(value, strict))

    return validate


def _made_of_text(kind, error_type, text):
    def validate(value, strict):
        if isinstance(value, kind):
            return value
        try:
            return kind(value)
        except (TypeError, ValueError):
            raise invalid(error_type, text, value) from None

    return validate


def _callable(value, strict):
    if callable(value):
        return value
    raise invalid("callable_type", "Input should be callable", value)


def _pattern(value, strict):
    try:
        return re.compile(value)
    except (TypeError, re.error):
        raise invalid("pattern_type", "Input should be a valid pattern", value) from None


def joined(values):
    """`'a', 'b' or 'c'`, as error texts name choices."""
    shown = [repr(value) for value in values]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} or {shown[-1]}"


def _enumeration(kind):
    values = {}
    for member in kind:
        values.setdefault(_exact(member.value), member)
    expected = joined([member.value for member in kind]) if len(kind) else ""

    def validate(value, strict):
        if isinstance(value, kind):
            return value
        if not strict:
            try:
                if (member := values.get(_exact(value))) is not None:
                    return member
                return kind(scalars.integer(value, False) if issubclass(kind, int) else value)
            except (TypeError, ValueError, Invalid):
                pass
        raise invalid("enum", f"Input should be {expected}", value, expected=expected)

    return validate


def _exact(value):
    """Keeps `1`, `1.0` and `True` apart."""
    return type(value), value


def _literal(values):
    flat = []
    for value in values:
        inner = typing.get_args(value) if typing.get_origin(value) is typing.Literal else (value,)
        flat += inner
    expected = joined(flat)

    def validate(value, strict):
        for choice in flat:
            same_kind = type(choice) is type(value) or isinstance(choice, enum.Enum)
            if choice == value and same_kind:
                return choice
            if not strict and isinstance(choice, enum.Enum) and choice.value == value:
                return choice
        raise invalid("literal_error", f"Input should be {expected}", value, expected=expected)

    return validate


def _generic(annotation, origin, arguments, scope):
    if origin is typing.Annotated:
        return annotated(arguments[0], arguments[1:], scope)
    if origin in _UNIONS:
        return _union(arguments, scope)
    if origin is typing.Literal:
        return _literal(arguments)
    if origin in _WRAPPERS:
        return build(arguments[0], scope)
    if origin is type:
        return _type_of(arguments[0])
    if origin is collections.abc.Callable:
        return _callable
    if origin in (tuple,):
        return _tuple(arguments, scope)
    if origin in (list, set, frozenset, collections.deque):
        return _collection(origin, build(arguments[0], scope))
    if origin in (collections.abc.Set, collections.abc.MutableSet):
        return _collection(set, build(arguments[0], scope))
    if isinstance(origin, type) and issubclass(origin, collections.abc.Mapping):
        if origin is collections.Counter:
            arguments = (arguments[0], int)
        make = origin if origin in (collections.OrderedDict, collections.Counter) else dict
        return _mapping(make, build(arguments[0], scope), build(arguments[1], scope))
    if isinstance(origin, type) and issubclass(origin, collections.abc.Iterable) \
            and origin.__module__ == "collections.abc":
        return _sequence(build(arguments[0], scope))
    if isinstance(origin, type):
        return _class(origin, scope)
    raise PydanticSchemaGenerationError(
        f"Unable to generate pydantic-core schema for {annotation!r}.")


def _type_of(wanted):
    def validate(value, strict):
        if isinstance(value, type) and (wanted is typing.Any or issubclass(value, wanted)):
            return value
        raise invalid("is_subclass_of", f"Input should be a subclass of {wanted.__name__}", value)

    return validate


def annotated(inner, marks, scope):
    """The validator of a type with what stands beside it in `Annotated[…]`."""
    discriminator = next((mark.discriminator for mark in marks
                          if isinstance(mark, FieldInfo) and mark.discriminator), None)
    if discriminator is not None:
        validate = tagged(inner, discriminator, scope)
    elif any(isinstance(mark, functional.SkipValidation) for mark in marks):
        validate = scalars.any_value
    else:
        only = next((mark.kind for mark in marks if isinstance(mark, functional.InstanceOf)), None)
        validate = instance_of(only) if only else build(inner, scope)
    for mark in marks:
        validate = _marked(validate, mark)
    return validate


def _marked(validate, mark):
    if isinstance(mark, functional.BeforeValidator):
        return lambda value, strict: validate(mark.call(value), strict)
    if isinstance(mark, functional.AfterValidator):
        return lambda value, strict: mark.call(validate(value, strict))
    if isinstance(mark, functional.PlainValidator):
        return lambda value, strict: mark.call(value)
    if isinstance(mark, functional.WrapValidator):
        return lambda value, strict: mark.call(value, lambda inner: validate(inner, strict))
    if hasattr(mark, "before"):
        return lambda value, strict: validate(mark.before(value), strict)
    limits = getattr(mark, "constraints", None)
    return constrained(validate, limits) if limits else validate


def label(annotation):
    """How errors of a union name one of its types."""
    if annotation in (None, type(None)):
        return "none"
    origin = typing.get_origin(annotation)
    arguments = typing.get_args(annotation)
    if origin is typing.Annotated:
        return label(arguments[0])
    if origin in _UNIONS:
        inner = [label(part) for part in arguments if part is not type(None)]
        text = inner[0] if len(inner) == 1 else f"union[{','.join(inner)}]"
        return text if len(inner) == len(arguments) else f"nullable[{text}]"
    if origin is typing.Literal:
        return f"literal[{','.join(map(repr, arguments))}]"
    if origin in (list, set, dict, frozenset, tuple):
        return f"{origin.__name__}[{','.join(label(part) for part in arguments)}]"
    if annotation in (list, set, frozenset):
        return f"{annotation.__name__}[any]"
    if annotation is dict:
        return "dict[any,any]"
    if annotation is typing.Any:
        return "any"
    return getattr(annotation, "__name__", str(annotation))


def _union(arguments, scope):
    arguments = [resolved(part, scope) for part in arguments]
    members = [(label(part), build(part, scope)) for part in arguments]
    accepts_none = any(part is type(None) for part in arguments)
    if accepts_none:
        members = [(name, validate) for name, validate in members if name != "none"]
    if len(members) == 1:
        single = members[0][1]
        return lambda value, strict: None if value is None else single(value, strict)

    def validate(value, strict):
        if value is None and accepts_none:
            return None
        found = _best(members, value)
        if found is not None:
            return found[0]
        lines = []
        for name, member in members:
            try:
                return member(value, strict)
            except Invalid as error:
                lines += error.at(name).lines
        raise Invalid(lines)

    return validate


def _best(members, value):
    """What the members make of the value without changing it; of models the fullest one."""
    best = None
    for _, member in members:
        try:
            made = member(value, True)
        except Invalid:
            continue
        filled = len(getattr(made, "__pydantic_fields_set__", ()))
        if made is value or not hasattr(made, "__pydantic_fields_set__"):
            return (made,)
        if best is None or filled > best[1]:
            best = made, filled
    return best and (best[0],)


def tagged(annotation, name, scope):
    """A union in which a field says which member it is."""
    models = [resolved(part, scope) for part in typing.get_args(annotation)]
    members, tags = {}, []

    def prepare():
        for model in models:
            field = model.model_fields[name]
            for value in typing.get_args(field.annotation) or [field.default]:
                plain = value.value if isinstance(value, enum.Enum) else value
                members[plain] = build(model, scope)
                tags.append(plain)

    def validate(value, strict):
        if not tags:
            prepare()
        if isinstance(value, dict):
            if name not in value:
                raise invalid(
                    "union_tag_not_found", f"Unable to extract tag using discriminator '{name}'",
                    value, discriminator=f"'{name}'")
            tag = value[name]
        elif isinstance(value, tuple(models)):
            tag = getattr(value, name, None)
        else:
            raise invalid(
                "model_attributes_type",
                "Input should be a valid dictionary or object to extract fields from", value)
        tag = tag.value if isinstance(tag, enum.Enum) else tag
        member = members.get(tag) if isinstance(tag, (str, int)) else None
        if member is None:
            expected = ", ".join(repr(known) for known in tags)
            raise invalid(
                "union_tag_invalid",
                f"Input tag '{tag}' found using '{name}' does not match any of the expected tags: "
                f"{expected}",
                value, discriminator=f"'{name}'", tag=str(tag), expected_tags=expected)
        try:
            return member(value, strict)
        except Invalid as error:
            raise error.at(tag) from None

    return validate


def _collection(kind, validate_item):
    title = "deque" if kind is collections.deque else kind.__name__
    words = {"frozenset": "frozenset", "deque": "deque"}.get(title, title)
    error_type = {"frozenset": "frozen_set_type"}.get(title, f"{title}_type")

    def validate(value, strict):
        fits = isinstance(value, kind) or not strict and (
            isinstance(value, _SEQUENCES) or isinstance(value, _VIEWS)
            or isinstance(value, collections.abc.Iterator))
        if not fits:
            raise invalid(error_type, f"Input should be a valid {words}", value)
        made, lines = [], []
        for index, item in enumerate(value):
            try:
                made.append(validate_item(item, strict))
            except Invalid as error:
                lines += error.at(index).lines
        if lines:
            raise Invalid(lines)
        return made if kind is list else kind(made)

    return validate


def _sequence(validate_item):
    """Lists stay lists and tuples stay tuples."""
    validate_list = _collection(list, validate_item)

    def validate(value, strict):
        made = validate_list(list(value) if isinstance(value, tuple) else value, strict)
        return tuple(made) if isinstance(value, tuple) else made

    return validate


def _tuple(arguments, scope):
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        return _collection(tuple, build(arguments[0], scope))
    members = [build(part, scope) for part in arguments if part != ()]

    def validate(value, strict):
        if not isinstance(value, tuple) and (strict or not isinstance(value, _SEQUENCES)):
            raise invalid("tuple_type", "Input should be a valid tuple", value)
        items, made, lines = list(value), [], []
        for index, member in enumerate(members):
            if index >= len(items):
                lines.append(LineError("missing", "Field required", value, None, (index,)))
                continue
            try:
                made.append(member(items[index], strict))
            except Invalid as error:
                lines += error.at(index).lines
        if len(items) > len(members):
            count = len(members)
            lines.append(LineError(
                "too_long",
                f"Tuple should have at most {count} item{'' if count == 1 else 's'} after "
                f"validation, not {len(items)}",
                value,
                {"field_type": "Tuple", "max_length": count, "actual_length": len(items)}))
        if lines:
            raise Invalid(lines)
        return tuple(made)

    return validate


def _mapping(make, validate_key, validate_value):
    def validate(value, strict):
        if not isinstance(value, dict) and (
                strict or not isinstance(value, collections.abc.Mapping)):
            raise invalid("dict_type", "Input should be a valid dictionary", value)
        made, lines = {}, []
        for key, item in value.items():
            try:
                new_key = validate_key(key, strict)
            except Invalid as error:
                lines += error.at(key, "[key]").lines
                continue
            try:
                made[new_key] = validate_value(item, strict)
            except Invalid as error:
                lines += error.at(key).lines
        if lines:
            raise Invalid(lines)
        return made if make is dict else make(made)

    return validate


def _members(kind, scope, value, strict, fields, title):
    """Validates named parts of a dictionary: (name, validator, required) for each field."""
    if not isinstance(value, collections.abc.Mapping):
        raise invalid("dict_type" if title is None else "dataclass_type",
                      "Input should be a valid dictionary" if title is None else
                      f"Input should be a dictionary or an instance of {title}", value)
    made, lines = {}, []
    for name, validate, required in fields:
        if name not in value:
            if required:
                lines.append(LineError("missing", "Field required", value, None, (name,)))
            continue
        try:
            made[name] = validate(value[name], strict)
        except Invalid as error:
            lines += error.at(name).lines
    if lines:
        raise Invalid(lines)
    return made


def _scope_of(kind, scope):
    import sys

    module = vars(sys.modules[kind.__module__]) if kind.__module__ in sys.modules else {}
    return {**scope, **module, kind.__name__: kind}


def _typed_dict(kind, scope):
    fields = []

    def validate(value, strict):
        if not fields:
            inner = _scope_of(kind, scope)
            required = getattr(kind, "__required_keys__", frozenset())
            fields.extend((name, build(part, inner), name in required)
                          for name, part in hints(kind).items())
        return _members(kind, scope, value, strict, fields, None)

    return validate


def _dataclass(kind, scope):
    fields = []

    def validate(value, strict):
        if isinstance(value, kind):
            return value
        if not fields:
            inner, types_ = _scope_of(kind, scope), hints(kind)
            for field in dataclasses.fields(kind):
                has_default = (field.default is not dataclasses.MISSING
                               or field.default_factory is not dataclasses.MISSING)
                part = types_.get(field.name, field.type)
                fields.append((field.name, build(part, inner), not has_default and field.init))
        made = _members(kind, scope, value, strict, fields, kind.__name__)
        return functional.guarded(lambda: kind(**made), value)

    return validate


def _named_tuple(kind, scope):
    def validate(value, strict):
        if isinstance(value, kind):
            return value
        inner, types_ = _scope_of(kind, scope), hints(kind)
        given = dict(zip(kind._fields, value)) if isinstance(value, (list, tuple)) else value
        fields = [(name, build(types_.get(name, typing.Any), inner),
                   name not in kind._field_defaults) for name in kind._fields]
        return kind(**_members(kind, scope, given, strict, fields, kind.__name__))

    return validate


def hints(kind):
    """The annotations of a class and its bases; names that are not known yet stay as text."""
    found = {}
    for base in reversed(kind.__mro__):
        found.update(own_annotations(base))
    return found


def own_annotations(kind):
    """The annotations of a class itself."""
    try:
        import annotationlib
    except ImportError:
        return dict(kind.__dict__.get("__annotations__", {}))
    return annotationlib.get_annotations(kind, format=annotationlib.Format.FORWARDREF)


IP_TYPES = (ipaddress.IPv4Address, ipaddress.IPv6Address)
