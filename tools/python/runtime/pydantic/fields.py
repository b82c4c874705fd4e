"""Fields of models: `Field`, `PrivateAttr`, `computed_field`."""

import copy
import typing

from .errors import PydanticUndefined

_CONSTRAINTS = (
    "gt", "ge", "lt", "le", "multiple_of", "min_length", "max_length", "pattern", "strict",
    "allow_inf_nan", "max_digits", "decimal_places",
)
_OTHERS = (
    "alias", "validation_alias", "serialization_alias", "title", "description", "examples",
    "exclude", "discriminator", "deprecated", "json_schema_extra", "frozen", "validate_default",
    "repr", "init", "kw_only",
)


class FieldInfo:
    """What is known of a field: its annotation, its default, and what `Field(…)` says."""

    def __init__(self, default=PydanticUndefined, default_factory=None, annotation=None, **given):
        self.annotation = annotation
        self.default = PydanticUndefined if default is ... else default
        self.default_factory = default_factory
        for name in _OTHERS:
            setattr(self, name, given.pop(name, None))
        self.constraints = {name: given.pop(name) for name in _CONSTRAINTS
                            if given.get(name) is not None}
        for name in _CONSTRAINTS:
            given.pop(name, None)
        self.extra = given
        self.metadata = []
        self.repr = True if self.repr is None else self.repr

    def is_required(self):
        """Whether a value must be given."""
        return self.default is PydanticUndefined and self.default_factory is None

    def get_default(self, *, call_default_factory=False, validated_data=None):
        """A fresh copy of the default."""
        if self.default_factory is None:
            return _fresh(self.default)
        if not call_default_factory:
            return None
        try:
            return self.default_factory()
        except TypeError:
            if validated_data is None:
                raise
            return self.default_factory(validated_data)

    def merged(self, other):
        """This field with what the other one says instead."""
        result = copy.copy(self)
        result.constraints = {**self.constraints, **other.constraints}
        result.metadata = [*self.metadata, *other.metadata]
        result.extra = {**self.extra, **other.extra}
        for name in _OTHERS:
            value = getattr(other, name)
            if value is not None and not (name == "repr" and value is True):
                setattr(result, name, value)
        if not other.is_required():
            result.default, result.default_factory = other.default, other.default_factory
        return result

    def input_names(self, name, config):
        """The keys under which data may hold the value, the usual one first."""
        alias = self.validation_alias if self.validation_alias is not None else self.alias
        if alias is None:
            return [name]
        names = list(alias.choices) if hasattr(alias, "choices") else [alias]
        if config.get("validate_by_alias") is False:
            names = []
        if config.get("populate_by_name") or config.get("validate_by_name"):
            names.append(name)
        return names or [name]

    def output_name(self, name):
        """The key under which `by_alias` gives the value."""
        alias = self.serialization_alias if self.serialization_alias is not None else self.alias
        return alias if isinstance(alias, str) else name

    def __repr__(self):
        shown = [f"annotation={_type_name(self.annotation)}", f"required={self.is_required()}"]
        if self.default is not PydanticUndefined:
            shown.append(f"default={self.default!r}")
        if self.default_factory is not None:
            shown.append(f"default_factory={_type_name(self.default_factory)}")
        shown += [f"{name}={getattr(self, name)!r}" for name in ("alias", "description")
                  if getattr(self, name) is not None]
        return f"FieldInfo({', '.join(shown)})"


def _type_name(value):
    return value.__name__ if isinstance(value, type) else str(value)


def _fresh(value):
    """A default that one instance can change without the next seeing it."""
    if type(value) in (int, float, str, bool, bytes, tuple, type(None), frozenset):
        return value
    return copy.deepcopy(value)


def Field(default=PydanticUndefined, *, default_factory=None, **given):
    """Says more about a field than its annotation can."""
    if default not in (PydanticUndefined, ...) and default_factory is not None:
        raise TypeError("cannot specify both default and default_factory")
    for old, new in (("regex", "pattern"), ("min_items", "min_length"), ("max_items", "max_length")):
        if old in given:
            given.setdefault(new, given.pop(old))
    if "const" in given:
        given.pop("const")
    if "allow_mutation" in given:
        given["frozen"] = not given.pop("allow_mutation")
    return FieldInfo(default, default_factory, **given)


class AliasPath:
    """A way into nested data."""

    def __init__(self, first, *rest):
        self.path = [first, *rest]


class AliasChoices:
    """Several keys, the first that is there counts."""

    def __init__(self, first, *rest):
        self.choices = [first, *rest]


class ModelPrivateAttr:
    """An attribute that is no field."""

    def __init__(self, default=PydanticUndefined, default_factory=None):
        self.default = default
        self.default_factory = default_factory

    def get_default(self):
        """A fresh copy of the default."""
        return self.default_factory() if self.default_factory else _fresh(self.default)


def PrivateAttr(default=PydanticUndefined, *, default_factory=None, init=False):
    """An attribute that is no field."""
    return ModelPrivateAttr(default, default_factory)


class ComputedField:
    """A property that appears among a model's dumped fields."""

    def __init__(self, prop, options):
        self.property = prop
        self.alias = options.get("alias")
        self.description = options.get("description") or getattr(prop.fget, "__doc__", None)
        self.title = options.get("title")
        self.return_type = options.get("return_type")

    def annotation(self):
        """The type of the value."""
        if self.return_type is not None:
            return self.return_type
        try:
            return typing.get_type_hints(self.property.fget).get("return", typing.Any)
        except NameError:
            return typing.Any


def computed_field(func=None, /, **options):
    """Marks a property as part of the dumped model."""

    def mark(target):
        is_cached = hasattr(target, "attrname")
        prop = target if isinstance(target, property) else property(
            target.func if is_cached else target)
        return ComputedField(prop, options)

    return mark if func is None else mark(func)
