"""`BaseModel`: classes whose annotations say what their data looks like."""

import copy
import functools
import json
import sys
import types
import typing

from . import build, config as configs, dumping
from .constraints import constrained
from .errors import (
    Invalid, LineError, PydanticUndefined, PydanticUndefinedAnnotation, PydanticUserError,
    ValidationError, invalid,
)
from .fields import ComputedField, FieldInfo, ModelPrivateAttr
from .functional import Decorated, ValidationInfo, guarded, positional_count

_IGNORED = (types.FunctionType, property, classmethod, staticmethod, type, Decorated, ComputedField,
            functools.cached_property)


class ModelMeta(type):
    """Makes the fields of a model from its annotations."""

    def __new__(mcs, name, bases, namespace, **keywords):
        if not any(isinstance(base, ModelMeta) for base in bases):
            return super().__new__(mcs, name, bases, namespace)
        config = configs.merged(bases, namespace, keywords)
        namespace["model_config"] = config
        decorated = {key: value for key, value in namespace.items() if isinstance(value, Decorated)}
        computed = {key: value for key, value in namespace.items()
                    if isinstance(value, ComputedField)}
        namespace.update({key: value.property for key, value in computed.items()})
        namespace.setdefault("__slots__", ())
        private = {key: namespace.pop(key) for key, value in list(namespace.items())
                   if isinstance(value, ModelPrivateAttr)}
        values = {key: namespace.pop(key) for key in list(namespace)
                  if _may_be_default(key, namespace[key])}
        cls = super().__new__(mcs, name, bases, namespace)
        cls.__pydantic_scope__ = _calling_scope()
        _collect(cls, bases, values, private, decorated, computed)
        cls.__pydantic_plan__ = None
        return cls

    def __init__(cls, name, bases, namespace, **keywords):
        super().__init__(name, bases, namespace)
        if bases:
            super(cls, cls).__pydantic_init_subclass__(**keywords)

    @property
    def model_fields(cls):
        """Name to `FieldInfo`."""
        return cls.__pydantic_fields__

    @property
    def model_computed_fields(cls):
        """Name to `ComputedField`."""
        return cls.__pydantic_computed__

    @property
    def __fields__(cls):
        return cls.__pydantic_fields__

    def __instancecheck__(cls, instance):
        return type.__instancecheck__(cls, instance)


def _may_be_default(name, value):
    if name.startswith("__") or name in ("model_config", "Config"):
        return False
    return not isinstance(value, _IGNORED) and not hasattr(value, "__get__")


def _calling_scope():
    """The local names where a class is written, for classes inside of functions."""
    frame = sys._getframe(2)
    if frame.f_locals is frame.f_globals:
        return {}
    return dict(frame.f_locals)


def _collect(cls, bases, values, private, decorated, computed):
    fields, privates, methods, computes = {}, {}, [], {}
    for base in reversed(cls.__mro__[1:]):
        fields.update({key: field for key, field in
                       base.__dict__.get("__pydantic_fields__", {}).items()})
        privates.update(base.__dict__.get("__pydantic_privates__", {}))
        methods += [method for method in base.__dict__.get("__pydantic_own_methods__", [])
                    if method not in methods]
        computes.update(base.__dict__.get("__pydantic_computed__", {}))
    own = build.own_annotations(cls)
    for name, annotation in own.items():
        if _is_class_variable(annotation):
            if name in values:
                setattr(cls, name, values.pop(name))
        elif name.startswith("_"):
            if name not in private:
                private[name] = ModelPrivateAttr(values.pop(name, PydanticUndefined))
        else:
            fields[name] = _field(annotation, values.pop(name, PydanticUndefined))
    for name, value in values.items():
        if name.startswith("_"):
            private[name] = ModelPrivateAttr(value)
        elif name in fields:
            fields[name] = _field(fields[name].annotation, value).merged(FieldInfo())
        else:
            raise PydanticUserError(
                f"A non-annotated attribute was detected: `{name} = {value!r}`. All model fields "
                "require a type annotation; if this is not meant to be a field, annotate it as "
                "a `ClassVar`.", code="model-field-missing-annotation")
    replaced = {method.name for method in decorated.values()}
    cls.__pydantic_own_methods__ = list(decorated.values())
    cls.__pydantic_methods__ = [method for method in methods if method.name not in replaced
                                ] + list(decorated.values())
    cls.__pydantic_fields__ = fields
    cls.__pydantic_privates__ = {**privates, **private}
    cls.__pydantic_computed__ = {**computes, **computed}


def _is_class_variable(annotation):
    if isinstance(annotation, str):
        return annotation.startswith(("ClassVar", "typing.ClassVar"))
    return annotation is typing.ClassVar or typing.get_origin(annotation) is typing.ClassVar


def _field(annotation, value):
    """The field of an annotation and of what stands behind the equals sign."""
    field = FieldInfo(annotation=annotation)
    if typing.get_origin(annotation) is typing.Annotated:
        inner, *marks = typing.get_args(annotation)
        field.annotation = inner
        for mark in marks:
            if isinstance(mark, FieldInfo):
                field = field.merged(mark)
            else:
                field.metadata.append(mark)
    if isinstance(value, FieldInfo):
        return field.merged(value)
    if value is not PydanticUndefined:
        field.default = PydanticUndefined if value is ... else value
    return field


class _Plan:
    """How data becomes an instance of one model; made when the first one is wanted."""

    def __init__(self, cls):
        self.config = cls.model_config
        scope = scope_of(cls)
        try:
            self.fields = [_FieldPlan(cls, name, field, scope)
                           for name, field in cls.__pydantic_fields__.items()]
        except PydanticUndefinedAnnotation as error:
            missing = str(error).split("'")[1] if "'" in str(error) else str(error)
            raise PydanticUserError(
                f"`{cls.__name__}` is not fully defined; you should define `{missing}`, then call "
                f"`{cls.__name__}.model_rebuild()`.", code="class-not-fully-defined") from None
        models = [method for method in cls.__pydantic_methods__ if method.kind == "model"]
        self.before = [method for method in reversed(models) if method.mode == "before"]
        self.after = [method for method in models if method.mode == "after"]
        self.wrap = [method for method in models if method.mode == "wrap"]
        self.extra = self.config.get("extra", "ignore")
        self.known = {key for plan in self.fields for key in plan.keys if isinstance(key, str)}
        self.known.update(key.path[0] for plan in self.fields for key in plan.keys
                          if not isinstance(key, str))


def scope_of(cls):
    """The names that annotations of the model may use."""
    module = sys.modules.get(cls.__module__)
    scope = dict(vars(module)) if module else {}
    scope.update(cls.__pydantic_scope__)
    scope.setdefault(cls.__name__, cls)
    scope.update(getattr(cls, "__pydantic_types__", {}))
    if cls.model_config.get("arbitrary_types_allowed"):
        scope["__pydantic_arbitrary__"] = True
    return scope


class _FieldPlan:
    """How one field gets its value."""

    def __init__(self, cls, name, field, scope):
        self.name = name
        self.field = field
        self.keys = field.input_names(name, cls.model_config)
        field.annotation = build.resolved(field.annotation, scope)
        if typing.get_origin(field.annotation) is typing.Annotated:
            # It was written in quotes: what it says of the field is known only now.
            described = _field(field.annotation, PydanticUndefined).merged(field)
            described.annotation = _field(field.annotation, PydanticUndefined).annotation
            self.field = field = cls.__pydantic_fields__[name] = described
        validate = self._typed(field, scope, cls.model_config)
        self.validate, self.always = _with_methods(cls, name, validate)
        self.validates_default = bool(
            self.always or field.validate_default or cls.model_config.get("validate_default"))
        self.is_frozen = bool(field.frozen or cls.model_config.get("frozen"))

    @staticmethod
    def _typed(field, scope, config):
        marks = [*field.metadata]
        if field.discriminator:
            marks.append(FieldInfo(discriminator=field.discriminator))
        validate = build.annotated(field.annotation, marks, scope)
        limits = dict(field.constraints)
        if field.annotation is str:
            for name, limit in (("str_strip_whitespace", "strip_whitespace"),
                                ("str_to_lower", "to_lower"), ("str_to_upper", "to_upper"),
                                ("str_min_length", "min_length"), ("str_max_length", "max_length")):
                if config.get(name):
                    limits.setdefault(limit, config[name])
        if config.get("strict"):
            limits.setdefault("strict", True)
        validate = constrained(validate, limits)
        if config.get("use_enum_values"):
            inner = validate
            validate = lambda value, strict: dumping.enum_value(inner(value, strict))  # noqa: E731
        return validate

    def find(self, data):
        """The key under which the data has the value, and the value; None if it has none."""
        for key in self.keys:
            if isinstance(key, str):
                if key in data:
                    return key, data[key]
                continue
            found = data
            try:
                for step in key.path:
                    found = found[step]
            except (KeyError, IndexError, TypeError):
                continue
            return ".".join(map(str, key.path)), found
        return None

    @property
    def shown(self):
        """The name of the field in errors about its absence."""
        key = self.keys[0]
        return key if isinstance(key, str) else ".".join(map(str, key.path))


def _with_methods(cls, name, validate):
    """The validator of a field with the methods that decorators put around it."""
    always = False
    methods = [method for method in cls.__pydantic_methods__
               if method.kind == "field" and (name in method.fields or "*" in method.fields)]
    for method in methods:
        always = always or bool(method.options.get("always"))
        validate = _around(cls, name, method, validate)
    return validate, always


def _around(cls, name, method, validate):
    function = method.bound(cls)
    count = positional_count(function)

    def call(value, *more):
        if method.options.get("v1"):
            return _call_v1(function, value, name, cls)
        arguments = (value, *more)
        if count is None or count > len(arguments):
            arguments = (*arguments, ValidationInfo(_values_so_far(), name, cls.model_config,
                                                    _context()))
        return guarded(function, value, *arguments)

    if method.mode == "before":
        return lambda value, strict: validate(call(value), strict)
    if method.mode == "plain":
        return lambda value, strict: call(value)
    if method.mode == "wrap":
        return lambda value, strict: call(value, lambda inner: validate(inner, strict))
    if method.options.get("each_item"):
        return lambda value, strict: _each(validate(value, strict), call)
    return lambda value, strict: call(validate(value, strict))


def _each(values, call):
    if isinstance(values, dict):
        return {key: call(value) for key, value in values.items()}
    if isinstance(values, (list, tuple, set, frozenset)):
        return type(values)(call(value) for value in values)
    return call(values)


def _call_v1(function, value, name, cls):
    import inspect

    given = {"values": _values_so_far(), "field": cls.__pydantic_fields__[name],
             "config": cls.model_config}
    parameters = inspect.signature(function).parameters
    named = {key: found for key, found in given.items() if key in parameters}
    if any(part.kind is part.VAR_KEYWORD for part in parameters.values()):
        named = given
    return guarded(lambda: function(value, **named), value)


_running = []
"""The validations that are under way: for each the values so far and the caller's context."""


def _values_so_far():
    return _running[-1][0] if _running else {}


def _context():
    return _running[-1][1] if _running else None


def plan_of(cls):
    """The plan of a model, made once."""
    if cls.__pydantic_plan__ is None:
        cls.__pydantic_plan__ = _Plan(cls)
    return cls.__pydantic_plan__


def _validated(cls, data, strict, instance=None):
    """An instance made of a dictionary; raises `Invalid`."""
    plan = plan_of(cls)
    for method in plan.before:
        data = _before(cls, method, data)
    if isinstance(data, cls) and instance is None:
        return data
    if not isinstance(data, dict):
        data = _mapping_of(cls, data, plan.config)
    values, given, extra, lines = _values(cls, data, plan, strict)
    if lines:
        raise Invalid(lines)
    self = object.__new__(cls) if instance is None else instance
    object.__setattr__(self, "__dict__", values)
    object.__setattr__(self, "__pydantic_fields_set__", given)
    object.__setattr__(self, "__pydantic_extra__", extra)
    object.__setattr__(self, "__pydantic_private__", {
        name: attribute.get_default() for name, attribute in cls.__pydantic_privates__.items()
        if attribute.default is not PydanticUndefined or attribute.default_factory})
    if cls.model_post_init is not BaseModel.model_post_init:
        guarded(self.model_post_init, data, _context())
    for method in plan.after:
        self = _after(cls, method, self, data)
    return self


def _before(cls, method, data):
    function = method.bound(cls)
    count = positional_count(function)
    arguments = (data,) if count == 1 else (
        data, ValidationInfo({}, None, cls.model_config, _context()))
    return guarded(function, data, *arguments)


def _after(cls, method, self, data):
    if method.options.get("v1"):
        values = guarded(method.bound(cls), data, dict(self.__dict__))
        self.__dict__.update(values)
        return self
    if isinstance(method.function, (classmethod, staticmethod)):
        return guarded(method.bound(cls), data, self)
    count = positional_count(method.function)
    more = (ValidationInfo({}, None, cls.model_config, _context()),) if count == 2 else ()
    return guarded(method.function, data, self, *more)


def _mapping_of(cls, data, config):
    if config.get("from_attributes") and not isinstance(
            data, (str, int, float, list, tuple, type(None))):
        names = {key for plan in plan_of(cls).fields for key in plan.keys if isinstance(key, str)}
        return {name: getattr(data, name) for name in names if hasattr(data, name)}
    if isinstance(data, typing.Mapping):
        return dict(data)
    raise invalid(
        "model_type", f"Input should be a valid dictionary or instance of {cls.__name__}", data,
        class_name=cls.__name__)


def _values(cls, data, plan, strict):
    values, given, lines, used = {}, set(), [], set()
    _running.append((values, _context()))
    try:
        for field in plan.fields:
            found = field.find(data)
            if found is None:
                _defaulted(field, values, data, strict, lines)
                continue
            key, value = found
            used.add(key)
            try:
                values[field.name] = field.validate(value, strict)
                given.add(field.name)
            except Invalid as error:
                lines += error.at(key).lines
    finally:
        _running.pop()
    extra = {} if plan.extra == "allow" else None
    for key in data:
        if key in used or key in plan.known:
            continue
        if plan.extra == "forbid":
            lines.append(LineError(
                "extra_forbidden", "Extra inputs are not permitted", data[key], None, (key,)))
        elif plan.extra == "allow":
            extra[key] = data[key]
            given.add(key)
    return values, given, extra, lines


def _defaulted(plan, values, data, strict, lines):
    if plan.field.is_required():
        lines.append(LineError("missing", "Field required", data, None, (plan.shown,)))
        return
    value = plan.field.get_default(call_default_factory=True, validated_data=values)
    if plan.validates_default:
        try:
            value = plan.validate(value, strict)
        except Invalid as error:
            lines += error.at(plan.shown).lines
            return
    values[plan.name] = value


class BaseModel(metaclass=ModelMeta):
    """The base of all models."""

    __slots__ = ("__dict__", "__pydantic_fields_set__", "__pydantic_extra__",
                 "__pydantic_private__")
    __pydantic_fields__ = {}
    __pydantic_computed__ = {}
    __pydantic_privates__ = {}
    __pydantic_methods__ = []
    __pydantic_plan__ = None
    __pydantic_scope__ = {}
    model_config = configs.ConfigDict()

    def __init__(self, /, **data):
        cls = type(self)
        try:
            _wrapped(cls, data, False, self)
        except Invalid as error:
            raise ValidationError(_title(cls), error.lines) from None

    def __init_subclass__(cls, **_):
        super().__init_subclass__()

    @classmethod
    def __pydantic_init_subclass__(cls, **_):
        """Called when a model was made; for subclasses to override."""

    @classmethod
    def __pydantic_validate__(cls, value, strict):
        """The validator that types use which contain the model."""
        if isinstance(value, cls) and cls.model_config.get("revalidate_instances") != "always":
            return value
        return _wrapped(cls, value, strict)

    @classmethod
    def model_validate(cls, obj, *, strict=None, from_attributes=None, context=None, **_):
        """An instance made of a dictionary or an instance."""
        return cls.__top(obj, bool(strict), from_attributes, context)

    @classmethod
    def __top(cls, value, strict, from_attributes=None, context=None):
        if from_attributes and not isinstance(value, (dict, cls)):
            names = {key for plan in plan_of(cls).fields for key in plan.keys
                     if isinstance(key, str)}
            value = {name: getattr(value, name) for name in names if hasattr(value, name)}
        _running.append(({}, context))
        try:
            return cls.__pydantic_validate__(value, strict)
        except Invalid as error:
            raise ValidationError(_title(cls), error.lines) from None
        finally:
            _running.pop()

    @classmethod
    def model_validate_json(cls, json_data, *, strict=None, context=None, **_):
        """An instance made of JSON text."""
        return cls.__top(parse_json(json_data, _title(cls)), bool(strict), None, context)

    @classmethod
    def model_validate_strings(cls, obj, *, strict=None, context=None, **_):
        """An instance made of a dictionary of texts."""
        return cls.__top(obj, bool(strict), None, context)

    @classmethod
    def model_construct(cls, _fields_set=None, **values):
        """An instance of values that are trusted."""
        self = object.__new__(cls)
        filled = {name: values.pop(name) if name in values else
                  field.get_default(call_default_factory=True)
                  for name, field in cls.__pydantic_fields__.items()
                  if name in values or not field.is_required()}
        object.__setattr__(self, "__pydantic_fields_set__", _fields_set or set(filled))
        keeps = cls.model_config.get("extra") == "allow"
        object.__setattr__(self, "__dict__", filled)
        object.__setattr__(self, "__pydantic_extra__", values if keeps else None)
        object.__setattr__(self, "__pydantic_private__", {})
        return self

    def model_post_init(self, context, /):
        """Called when the values are set; for models to override."""

    @classmethod
    def model_rebuild(cls, *, force=False, raise_errors=True, _types_namespace=None, **_):
        """Looks up names again that were not defined when the model was."""
        scope = dict(sys._getframe(1).f_locals)
        cls.__pydantic_types__ = {**getattr(cls, "__pydantic_types__", {}), **scope,
                                  **(_types_namespace or {})}
        cls.__pydantic_plan__ = None
        plan_of(cls)
        return True

    update_forward_refs = classmethod(lambda cls, **names: cls.model_rebuild(_types_namespace=names))

    @classmethod
    def model_json_schema(cls, by_alias=True, ref_template="#/$defs/{model}", mode="validation",
                          **_):
        """The JSON Schema of the model."""
        from .json_schema import schema_of

        return schema_of(cls, by_alias, mode, ref_template)

    schema = model_json_schema

    @classmethod
    def schema_json(cls, **options):
        """The JSON Schema as text."""
        return json.dumps(cls.model_json_schema(), **options)

    def model_dump(self, **options):
        """The values as a dictionary."""
        return dumping.dump_model(self, dumping.Options(**options))

    def model_dump_json(self, *, indent=None, **options):
        """The values as JSON."""
        plain = dumping.dump_model(self, dumping.Options(**{**options, "mode": "json"}))
        return dumping.to_text(plain, indent)

    def dict(self, **options):
        """The older name of `model_dump`."""
        return self.model_dump(**options)

    def json(self, **options):
        """The older name of `model_dump_json`."""
        return self.model_dump_json(**options)

    @classmethod
    def parse_obj(cls, obj):
        """The older name of `model_validate`."""
        return cls.model_validate(obj)

    @classmethod
    def parse_raw(cls, data, **_):
        """The older name of `model_validate_json`."""
        return cls.model_validate_json(data)

    @classmethod
    def from_orm(cls, obj):
        """An instance made of an object's attributes."""
        return cls.model_validate(obj, from_attributes=True)

    @classmethod
    def construct(cls, _fields_set=None, **values):
        """The older name of `model_construct`."""
        return cls.model_construct(_fields_set, **values)

    def model_copy(self, *, update=None, deep=False):
        """A copy, with other values where `update` says so."""
        made = copy.deepcopy(self) if deep else copy.copy(self)
        for name, value in (update or {}).items():
            if name in type(self).__pydantic_fields__ or made.__pydantic_extra__ is None:
                made.__dict__[name] = value
            else:
                made.__pydantic_extra__[name] = value
            made.__pydantic_fields_set__.add(name)
        return made

    def copy(self, *, update=None, deep=False, include=None, exclude=None):
        """The older name of `model_copy`."""
        made = self.model_copy(update=update, deep=deep)
        for name in list(made.__dict__):
            if include is not None and name not in include or exclude and name in exclude:
                del made.__dict__[name]
        return made

    @property
    def model_fields_set(self):
        """The names of fields that were given."""
        return self.__pydantic_fields_set__

    @property
    def model_extra(self):
        """Values beyond the fields, where the model allows them."""
        return self.__pydantic_extra__

    @property
    def model_fields(self):
        """Name to `FieldInfo`."""
        return type(self).__pydantic_fields__

    __fields_set__ = model_fields_set

    def __class_getitem__(cls, arguments):
        return _parametrized(cls, arguments if isinstance(arguments, tuple) else (arguments,))

    def __getattr__(self, name):
        if not name.startswith("__"):
            for place in ("__pydantic_private__", "__pydantic_extra__"):
                held = object.__getattribute__(self, place)
                if held and name in held:
                    return held[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __setattr__(self, name, value):
        cls = type(self)
        if name in cls.__pydantic_privates__ or name.startswith("_") and not name.startswith("__"):
            self.__pydantic_private__[name] = value
            return
        member = getattr(cls, name, None)
        if isinstance(member, property):
            member.__set__(self, value)
            return
        plan = next((plan for plan in plan_of(cls).fields if plan.name == name), None)
        if plan is None:
            self.__set_extra(name, value, member)
            return
        if plan.is_frozen:
            is_whole = cls.model_config.get("frozen")
            kind, text = ("frozen_instance", "Instance is frozen") if is_whole else (
                "frozen_field", "Field is frozen")
            raise ValidationError(cls.__name__, [LineError(kind, text, value, None, (name,))])
        if cls.model_config.get("validate_assignment"):
            value = self.__assigned(plan, value)
        self.__dict__[name] = value
        self.__pydantic_fields_set__.add(name)

    def __set_extra(self, name, value, member):
        if isinstance(member, functools.cached_property):
            self.__dict__[name] = value
        elif self.__pydantic_extra__ is not None:
            self.__pydantic_extra__[name] = value
            self.__pydantic_fields_set__.add(name)
        else:
            raise ValueError(f'"{type(self).__name__}" object has no field "{name}"')

    def __assigned(self, plan, value):
        _running.append((dict(self.__dict__), None))
        try:
            return plan.validate(value, False)
        except Invalid as error:
            raise ValidationError(type(self).__name__, error.at(plan.name).lines) from None
        finally:
            _running.pop()

    def __delattr__(self, name):
        if name in self.__dict__:
            del self.__dict__[name]
        elif self.__pydantic_extra__ and name in self.__pydantic_extra__:
            del self.__pydantic_extra__[name]
        elif self.__pydantic_private__ and name in self.__pydantic_private__:
            del self.__pydantic_private__[name]
        else:
            raise AttributeError(name)

    def __iter__(self):
        yield from [(key, value) for key, value in self.__dict__.items() if not key.startswith("_")]
        yield from (self.__pydantic_extra__ or {}).items()

    def __eq__(self, other):
        if not isinstance(other, BaseModel):
            return NotImplemented
        return (
            type(self) is type(other)
            and self._field_values() == other._field_values()
            and self.__pydantic_private__ == other.__pydantic_private__
            and self.__pydantic_extra__ == other.__pydantic_extra__
        )

    def _field_values(self):
        return {name: self.__dict__.get(name) for name in type(self).__pydantic_fields__}

    def __hash__(self):
        if not type(self).model_config.get("frozen"):
            raise TypeError(f"unhashable type: {type(self).__name__!r}")
        return hash((type(self), *self._field_values().values()))

    def __copy__(self):
        made = object.__new__(type(self))
        object.__setattr__(made, "__dict__", dict(self.__dict__))
        self.__copy_rest(made, copy.copy)
        return made

    def __deepcopy__(self, memo=None):
        made = object.__new__(type(self))
        object.__setattr__(made, "__dict__", copy.deepcopy(self.__dict__, memo))
        self.__copy_rest(made, copy.deepcopy)
        return made

    def __copy_rest(self, made, copied):
        for name in ("__pydantic_fields_set__", "__pydantic_extra__", "__pydantic_private__"):
            object.__setattr__(made, name, copied(object.__getattribute__(self, name)))

    def __repr_args__(self):
        cls = type(self)
        for name, value in self.__dict__.items():
            field = cls.__pydantic_fields__.get(name)
            if field is not None and field.repr:
                yield name, value
        yield from (self.__pydantic_extra__ or {}).items()
        yield from ((name, getattr(self, name)) for name in cls.__pydantic_computed__)

    def __repr__(self):
        inner = ", ".join(f"{name}={value!r}" for name, value in self.__repr_args__())
        return f"{type(self).__name__}({inner})"

    def __str__(self):
        return " ".join(f"{name}={value!r}" for name, value in self.__repr_args__())


def _title(cls):
    return cls.model_config.get("title") or cls.__name__


def _wrapped(cls, data, strict, instance=None):
    """Validation with the model's own `wrap` validators around it."""

    def validate(value):
        return _validated(cls, value, strict, instance)

    for method in plan_of(cls).wrap:
        validate = functools.partial(_call_wrap, cls, method, validate)
    return validate(data)


def _call_wrap(cls, method, inner, value):
    function = method.bound(cls)
    more = (ValidationInfo({}, None, cls.model_config),) if positional_count(function) == 3 else ()
    return guarded(function, value, value, inner, *more)


def parse_json(text, title):
    """The value that JSON text says."""
    try:
        return json.loads(text)
    except ValueError as error:
        line = LineError("json_invalid", f"Invalid JSON: {error}", text, {"error": str(error)})
        raise ValidationError(title, [line]) from None


_made_generics = {}


def _parametrized(cls, arguments):
    """`Box[int]`: the model with its type variables replaced."""
    key = (cls, arguments)
    if key in _made_generics:
        return _made_generics[key]
    variables = getattr(cls, "__parameters__", ())
    if not variables:
        raise TypeError(f"{cls} cannot be parametrized because it does not inherit from "
                        "typing.Generic")
    replaced = dict(zip(variables, arguments))
    names = ", ".join(part.__name__ if type(part) is type or isinstance(part, ModelMeta)
                      else str(part).replace("typing.", "") for part in arguments)
    made = ModelMeta(f"{cls.__name__}[{names}]", (cls,), {"__module__": cls.__module__})
    made.__pydantic_fields__ = {name: _substituted_field(field, replaced)
                                for name, field in cls.__pydantic_fields__.items()}
    made.__pydantic_scope__ = cls.__pydantic_scope__
    made.__parameters__ = tuple(part for part in arguments if isinstance(part, typing.TypeVar))
    _made_generics[key] = made
    return made


def _substituted_field(field, replaced):
    made = copy.copy(field)
    made.annotation = _substituted(field.annotation, replaced)
    return made


def _substituted(annotation, replaced):
    if isinstance(annotation, typing.TypeVar):
        return replaced.get(annotation, annotation)
    parameters = getattr(annotation, "__parameters__", ())
    if parameters and not (isinstance(annotation, type) and not typing.get_origin(annotation)):
        return annotation[tuple(replaced.get(part, part) for part in parameters)]
    return annotation


def create_model(name, /, *, __config__=None, __base__=None, __module__=None, __validators__=None,
                 __doc__=None, **definitions):
    """A model made while the program runs."""
    namespace = {"__module__": __module__ or sys._getframe(1).f_globals.get("__name__", __name__)}
    annotations = {}
    for key, definition in definitions.items():
        if isinstance(definition, tuple):
            annotations[key], namespace[key] = definition
        elif isinstance(definition, FieldInfo):
            annotations[key], namespace[key] = typing.Any, definition
        elif isinstance(definition, type) or typing.get_origin(definition):
            annotations[key] = definition
        else:
            annotations[key], namespace[key] = type(definition), definition
    namespace["__annotations__"] = annotations
    namespace.update(__validators__ or {})
    if __config__ is not None:
        namespace["model_config"] = __config__
    if __doc__ is not None:
        namespace["__doc__"] = __doc__
    bases = __base__ if isinstance(__base__, tuple) else (__base__ or BaseModel,)
    return types.new_class(name, bases, {}, lambda body: body.update(namespace))
