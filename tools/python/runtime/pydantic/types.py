"""Types that say more than Python's own: constrained ones, addresses, secrets."""

import re
import typing
import urllib.parse
import uuid
from datetime import date, datetime
from pathlib import Path

from .errors import invalid
from .fields import FieldInfo
from . import scalars

Annotated = typing.Annotated

StrictStr = Annotated[str, FieldInfo(strict=True)]
StrictInt = Annotated[int, FieldInfo(strict=True)]
StrictFloat = Annotated[float, FieldInfo(strict=True)]
StrictBool = Annotated[bool, FieldInfo(strict=True)]
StrictBytes = Annotated[bytes, FieldInfo(strict=True)]
PositiveInt = Annotated[int, FieldInfo(gt=0)]
NegativeInt = Annotated[int, FieldInfo(lt=0)]
NonNegativeInt = Annotated[int, FieldInfo(ge=0)]
NonPositiveInt = Annotated[int, FieldInfo(le=0)]
PositiveFloat = Annotated[float, FieldInfo(gt=0)]
NegativeFloat = Annotated[float, FieldInfo(lt=0)]
NonNegativeFloat = Annotated[float, FieldInfo(ge=0)]
NonPositiveFloat = Annotated[float, FieldInfo(le=0)]
FiniteFloat = Annotated[float, FieldInfo(allow_inf_nan=False)]
UUID1 = UUID3 = UUID4 = UUID5 = uuid.UUID


class StringConstraints:
    """Limits of a text, for `Annotated[str, StringConstraints(…)]`."""

    def __init__(self, **limits):
        self.constraints = {name: value for name, value in limits.items() if value is not None}


def constr(**limits):
    """Text within limits."""
    if "regex" in limits:
        limits["pattern"] = limits.pop("regex")
    return Annotated[str, StringConstraints(**limits)]


def conint(**limits):
    """Integers within limits."""
    return Annotated[int, FieldInfo(**limits)]


def confloat(**limits):
    """Numbers within limits."""
    return Annotated[float, FieldInfo(**limits)]


def condecimal(**limits):
    """Decimals within limits."""
    import decimal

    return Annotated[decimal.Decimal, FieldInfo(**limits)]


def conlist(item_type, **limits):
    """Lists within limits."""
    return Annotated[typing.List[item_type], FieldInfo(**_lengths(limits))]


def conset(item_type, **limits):
    """Sets within limits."""
    return Annotated[typing.Set[item_type], FieldInfo(**_lengths(limits))]


def _lengths(limits):
    names = {"min_items": "min_length", "max_items": "max_length"}
    return {names.get(name, name): value for name, value in limits.items()}


class EmailStr(str):
    """Text that has the form of an e-mail address."""

    __json_schema__ = {"type": "string", "format": "email"}

    @classmethod
    def __validate__(cls, value, strict):
        """The address with the domain in small letters."""
        text = scalars.string(value, strict)
        match = re.fullmatch(r"([^@\s\"(),:;<>\[\]\\]{1,64})@((?:[^@\s.]{1,63}\.)+[^@\s.]{2,63})", text)
        if match is None:
            reason = (
                "An email address must have an @-sign." if "@" not in text
                else "The parts around the @-sign are not those of an email address."
            )
            raise invalid(
                "value_error", f"value is not a valid email address: {reason}", value,
                reason=reason)
        return f"{match[1]}@{match[2].lower()}"


class _Url:
    """An address of the web."""

    schemes = None
    __json_schema__ = {"type": "string", "format": "uri", "minLength": 1}

    def __init__(self, url):
        self._url = str(self.__validate__(url, False))

    @classmethod
    def __validate__(cls, value, strict):
        """The address with scheme and host in small letters and a path."""
        if isinstance(value, cls):
            return value
        if not isinstance(value, str):
            raise invalid("url_type", "URL input should be a string or URL", value)
        try:
            parts = urllib.parse.urlsplit(value.strip())
            parts.port
        except ValueError as error:
            raise invalid("url_parsing", f"Input should be a valid URL, {error}", value) from None
        if not parts.scheme:
            text = "relative URL without a base"
            raise invalid("url_parsing", f"Input should be a valid URL, {text}", value, error=text)
        if cls.schemes and parts.scheme.lower() not in cls.schemes:
            wanted = " or ".join(f"'{scheme}'" for scheme in cls.schemes)
            raise invalid(
                "url_scheme", f"URL scheme should be {wanted}", value, expected_schemes=wanted)
        if cls.schemes and not parts.hostname:
            text = "empty host"
            raise invalid("url_parsing", f"Input should be a valid URL, {text}", value, error=text)
        path = parts.path or ("/" if parts.netloc else "")
        made = object.__new__(cls)
        made._url = urllib.parse.urlunsplit(
            (parts.scheme.lower(), _host_lowered(parts.netloc), path, parts.query, parts.fragment))
        return made

    @property
    def _parts(self):
        return urllib.parse.urlsplit(self._url)

    scheme = property(lambda self: self._parts.scheme)
    host = property(lambda self: self._parts.hostname)
    username = property(lambda self: self._parts.username)
    password = property(lambda self: self._parts.password)
    path = property(lambda self: self._parts.path or None)
    query = property(lambda self: self._parts.query or None)
    fragment = property(lambda self: self._parts.fragment or None)

    @property
    def port(self):
        """The port, that of the scheme where none is named."""
        return self._parts.port or {"http": 80, "https": 443}.get(self.scheme)

    def __str__(self):
        return self._url

    def __repr__(self):
        return f"{type(self).__name__}({self._url!r})"

    def __eq__(self, other):
        return isinstance(other, _Url) and self._url == other._url

    def __hash__(self):
        return hash(self._url)


def _host_lowered(netloc):
    user, at, host = netloc.rpartition("@")
    return user + at + host.lower()


class AnyUrl(_Url):
    """An address with any scheme."""


class AnyHttpUrl(_Url):
    """An address of http or https."""

    schemes = ("http", "https")


class HttpUrl(AnyHttpUrl):
    """An address of http or https."""


class _Secret:
    """A value that does not show itself."""

    kind = str
    __json_schema__ = {"type": "string", "writeOnly": True, "format": "password"}

    def __init__(self, value):
        self._secret_value = value

    @classmethod
    def __validate__(cls, value, strict):
        """The value, hidden."""
        if isinstance(value, cls):
            return value
        check = scalars.string if cls.kind is str else scalars.raw_bytes
        return cls(check(value, strict))

    def get_secret_value(self):
        """The value itself."""
        return self._secret_value

    def __str__(self):
        return "**********" if self._secret_value else ""

    def __repr__(self):
        return f"{type(self).__name__}({str(self)!r})"

    def __len__(self):
        return len(self._secret_value)

    def __eq__(self, other):
        return type(other) is type(self) and other._secret_value == self._secret_value

    def __hash__(self):
        return hash(self._secret_value)


class SecretStr(_Secret):
    """Text that does not show itself."""


class SecretBytes(_Secret):
    """Bytes that do not show themselves."""

    kind = bytes


class _Moment:
    """Checks that a date or time lies where it should."""

    base = None

    @classmethod
    def _check(cls, value, holds, kind, text):
        if holds:
            return value
        raise invalid(kind, text, value)


class PastDate(_Moment):
    """A date before today."""

    __json_schema__ = {"type": "string", "format": "date"}

    @classmethod
    def __validate__(cls, value, strict):
        """The date."""
        value = scalars.day(value, strict)
        return cls._check(value, value < date.today(), "date_past", "Date should be in the past")


class FutureDate(_Moment):
    """A date after today."""

    __json_schema__ = {"type": "string", "format": "date"}

    @classmethod
    def __validate__(cls, value, strict):
        """The date."""
        value = scalars.day(value, strict)
        return cls._check(value, value > date.today(), "date_future", "Date should be in the future")


class PastDatetime(_Moment):
    """A moment before now."""

    __json_schema__ = {"type": "string", "format": "date-time"}

    @classmethod
    def __validate__(cls, value, strict):
        """The moment."""
        value = scalars.moment(value, strict)
        return cls._check(value, value < datetime.now(value.tzinfo), "datetime_past",
                          "Input should be in the past")


class FutureDatetime(_Moment):
    """A moment after now."""

    __json_schema__ = {"type": "string", "format": "date-time"}

    @classmethod
    def __validate__(cls, value, strict):
        """The moment."""
        value = scalars.moment(value, strict)
        return cls._check(value, value > datetime.now(value.tzinfo), "datetime_future",
                          "Input should be in the future")


class AwareDatetime:
    """A moment with a zone."""

    __json_schema__ = {"type": "string", "format": "date-time"}

    @classmethod
    def __validate__(cls, value, strict):
        """The moment."""
        found = scalars.moment(value, strict)
        if found.tzinfo is None:
            raise invalid("timezone_aware", "Input should have timezone info", value)
        return found


class NaiveDatetime:
    """A moment without a zone."""

    __json_schema__ = {"type": "string", "format": "date-time"}

    @classmethod
    def __validate__(cls, value, strict):
        """The moment."""
        found = scalars.moment(value, strict)
        if found.tzinfo is not None:
            raise invalid("timezone_naive", "Input should not have timezone info", value)
        return found


class Json:
    """Text with JSON; `Json[int]` says what is in it."""

    def __class_getitem__(cls, item):
        return Annotated[item, _ParsedFirst()]

    @classmethod
    def __validate__(cls, value, strict):
        """The value that the text says."""
        return _ParsedFirst().before(value)

    __json_schema__ = {"type": "string", "contentMediaType": "application/json"}


class _ParsedFirst:
    """Reads JSON before the inner type sees the value."""

    def before(self, value):
        """The value that the text says."""
        import json

        try:
            return json.loads(value)
        except (TypeError, ValueError) as error:
            raise invalid("json_invalid", f"Invalid JSON: {error}", value, error=str(error)) from None


class _PathKind:
    """A path to something; whether it is there is up to the tool's folders."""

    __json_schema__ = {"type": "string", "format": "path"}

    @classmethod
    def __validate__(cls, value, strict):
        """The path."""
        path = Path(scalars.string(str(value) if isinstance(value, Path) else value, strict))
        if not cls.is_there(path):
            raise invalid(cls.kind, cls.text, value)
        return path


class FilePath(_PathKind):
    """A file that is there."""

    kind, text = "path_not_file", "Path does not point to a file"
    is_there = staticmethod(Path.is_file)


class DirectoryPath(_PathKind):
    """A folder that is there."""

    kind, text = "path_not_directory", "Path does not point to a directory"
    is_there = staticmethod(Path.is_dir)
