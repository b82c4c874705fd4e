"""Dataclasses whose values are validated."""

import dataclasses as standard
import sys

from . import build
from .constraints import constrained
from .errors import Invalid, ValidationError
from .fields import FieldInfo


def dataclass(cls=None, /, *, config=None, **options):
    """`dataclasses.dataclass` with validation when an instance is made."""

    def decorate(kind):
        for name, value in list(vars(kind).items()):
            if isinstance(value, FieldInfo):
                setattr(kind, name, _standard_field(value))
        made = standard.dataclass(kind, **options)
        scope = {**vars(sys.modules[kind.__module__]), **sys._getframe(1).f_locals}
        _validate_when_made(made, scope, config or {})
        return made

    return decorate if cls is None else decorate(cls)


def _standard_field(field):
    metadata = {"pydantic": field}
    if field.default_factory is not None:
        return standard.field(default_factory=field.default_factory, metadata=metadata)
    if field.is_required():
        return standard.field(metadata=metadata)
    return standard.field(default=field.default, metadata=metadata)


def _validate_when_made(kind, scope, config):
    if config.get("arbitrary_types_allowed"):
        scope["__pydantic_arbitrary__"] = True
    own_init = kind.__init__
    plans = []

    def prepare():
        types = build.hints(kind)
        for field in standard.fields(kind):
            described = field.metadata.get("pydantic")
            limits = described.constraints if described else {}
            validate = build.build(types.get(field.name, field.type), {**scope, kind.__name__: kind})
            plans.append((field.name, constrained(validate, limits)))

    def __init__(self, *positional, **named):
        if not plans:
            prepare()
        names = [field.name for field in standard.fields(kind) if field.init]
        given = {**dict(zip(names, positional)), **named}
        lines = []
        for name, validate in plans:
            if name in given:
                try:
                    given[name] = validate(given[name], False)
                except Invalid as error:
                    lines += error.at(name).lines
        if lines:
            raise ValidationError(kind.__name__, lines)
        own_init(self, **given)

    kind.__init__ = __init__
