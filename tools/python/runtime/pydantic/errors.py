"""What validation reports, and what is wrong with a model's own definition."""

import json


class _Undefined:
    """The default of a field that has none."""

    def __repr__(self):
        return "PydanticUndefined"

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __bool__(self):
        return False


PydanticUndefined = _Undefined()


class LineError:
    """One thing wrong with one value."""

    __slots__ = ("type", "loc", "msg", "input", "ctx")

    def __init__(self, type, msg, input, ctx=None, loc=()):
        self.type = type
        self.msg = msg
        self.input = input
        self.ctx = ctx
        self.loc = loc


class Invalid(Exception):
    """Raised and caught inside of validation; what leaves it is a `ValidationError`."""

    def __init__(self, lines):
        super().__init__(lines)
        self.lines = lines

    def at(self, *loc):
        """The same errors, further out."""
        for line in self.lines:
            line.loc = (*loc, *line.loc)
        return self


def invalid(type, msg, input, **ctx):
    """An `Invalid` with one error."""
    return Invalid([LineError(type, msg, input, ctx or None)])


class ValidationError(ValueError):
    """Data that a model or type can't be made of."""

    def __init__(self, title, lines):
        super().__init__(title, lines)
        self._title = title
        self._lines = lines

    @classmethod
    def from_exception_data(cls, title, line_errors, *_, **__):
        """An error from dictionaries with `type`, `loc`, `input` and perhaps `msg` and `ctx`."""
        lines = []
        for data in line_errors:
            kind, ctx = data["type"], data.get("ctx")
            if isinstance(kind, PydanticCustomError):
                kind, message, ctx = kind.type, kind.message(), kind.context
            else:
                message = data.get("msg", kind)
            loc = tuple(data.get("loc", ()))
            lines.append(LineError(kind, message, data.get("input"), ctx, loc))
        return cls(title, lines)

    @property
    def title(self):
        """The name of what was validated."""
        return self._title

    def error_count(self):
        """How many things are wrong."""
        return len(self._lines)

    def errors(self, *, include_url=True, include_context=True, include_input=True):
        """Each error as a dictionary; there are no addresses of documentation to include."""
        found = []
        for line in self._lines:
            error = {"type": line.type, "loc": tuple(line.loc), "msg": line.msg}
            if include_input:
                error["input"] = line.input
            if include_context and line.ctx:
                error["ctx"] = line.ctx
            found.append(error)
        return found

    def json(self, *, indent=None, include_url=True, include_context=True, include_input=True):
        """The errors as JSON."""
        errors = self.errors(include_context=include_context, include_input=include_input)
        return json.dumps(errors, indent=indent, default=str)

    def __str__(self):
        count = len(self._lines)
        parts = [f"{count} validation error{'s' if count != 1 else ''} for {self._title}"]
        for line in self._lines:
            if line.loc:
                parts.append(".".join(str(part) for part in line.loc))
            shown = _cut(repr(line.input))
            kind = type(line.input).__name__
            parts.append(
                f"  {line.msg} [type={line.type}, input_value={shown}, input_type={kind}]"
            )
        return "\n".join(parts)

    __repr__ = __str__

    def __reduce__(self):
        return type(self), (self._title, self._lines)


def _cut(text):
    """The first and the last part of a long text."""
    return text if len(text) <= 50 else f"{text[:25]}...{text[-24:]}"


class PydanticErrorMixin:
    """An error in how a model is written."""

    def __init__(self, message, *, code=None):
        self.message = message
        self.code = code

    def __str__(self):
        return self.message


class PydanticUserError(PydanticErrorMixin, RuntimeError):
    """A model or a validator is written wrongly."""


class PydanticSchemaGenerationError(PydanticUserError):
    """A type that values can't be checked against."""


class PydanticUndefinedAnnotation(PydanticErrorMixin, NameError):
    """An annotation names what does not exist."""


class PydanticImportError(PydanticErrorMixin, ImportError):
    """A name that is no longer, or not here."""


class PydanticCustomError(ValueError):
    """Raised by a validator to choose the type and the text of an error."""

    def __init__(self, error_type, message_template, context=None):
        super().__init__(message_template)
        self.type = error_type
        self.message_template = message_template
        self.context = context

    def message(self):
        """The text with the context filled in."""
        text = self.message_template
        for key, value in (self.context or {}).items():
            text = text.replace("{" + key + "}", str(value))
        return text

    __str__ = message
