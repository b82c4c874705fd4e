"""Validators of simple types. Each takes a value and whether to be strict."""

import datetime
import decimal
import math
import re
import uuid

from .errors import invalid

_TRUE = {"1", "on", "t", "true", "y", "yes"}
_FALSE = {"0", "off", "f", "false", "n", "no"}
_INTEGER = re.compile(r"\s*[+-]?\d+(_\d+)*(\.0*)?\s*\Z")
_SECONDS_LIMIT = 2e10
"""Larger timestamps are milliseconds."""


def any_value(value, strict):
    """Everything is fine."""
    return value


def none(value, strict):
    """Only None."""
    if value is None:
        return None
    raise invalid("none_required", "Input should be None", value)


def string(value, strict):
    """Text; bytes in UTF-8 too where it is not strict."""
    if isinstance(value, str):
        return value if type(value) is str else _plain_text(value)
    if not strict and isinstance(value, (bytes, bytearray)):
        try:
            return bytes(value).decode()
        except UnicodeDecodeError:
            raise invalid(
                "string_unicode",
                "Input should be a valid string, unable to parse raw data as a unicode string",
                value,
            ) from None
    raise invalid("string_type", "Input should be a valid string", value)


def _plain_text(value):
    inner = getattr(value, "value", None)
    return inner if isinstance(inner, str) else str.__str__(value)


def integer(value, strict):
    """Whole numbers, and what says one."""
    if type(value) is int:
        return value
    if strict or isinstance(value, bool) and strict:
        raise invalid("int_type", "Input should be a valid integer", value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if math.isfinite(value) and value.is_integer():
            return int(value)
        if not math.isfinite(value):
            raise invalid("finite_number", "Input should be a finite number", value)
        raise invalid(
            "int_from_float",
            "Input should be a valid integer, got a number with a fractional part", value)
    if isinstance(value, decimal.Decimal):
        if value == value.to_integral_value():
            return int(value)
        raise invalid(
            "int_from_float",
            "Input should be a valid integer, got a number with a fractional part", value)
    if isinstance(value, (str, bytes)):
        return _integer_of(value)
    raise invalid("int_type", "Input should be a valid integer", value)


def _integer_of(value):
    text = value if isinstance(value, str) else value.decode("ascii", "replace")
    if _INTEGER.match(text):
        if len(text) > 4300:
            raise invalid(
                "int_parsing_size",
                "Unable to parse input string as an integer, exceeded maximum size", value)
        return int(text.partition(".")[0])
    raise invalid(
        "int_parsing",
        "Input should be a valid integer, unable to parse string as an integer", value)


def number(value, strict):
    """Floating point numbers, and what says one."""
    if type(value) is float:
        return value
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    if not strict:
        if isinstance(value, (bool, decimal.Decimal)):
            return float(value)
        if isinstance(value, (str, bytes)):
            try:
                return float(value)
            except ValueError:
                raise invalid(
                    "float_parsing",
                    "Input should be a valid number, unable to parse string as a number", value
                ) from None
        if hasattr(type(value), "__float__"):
            return float(value)
    raise invalid("float_type", "Input should be a valid number", value)


def boolean(value, strict):
    """True and false, and what says one of them."""
    if isinstance(value, bool):
        return value
    if not strict:
        if isinstance(value, (str, bytes)):
            text = (value if isinstance(value, str) else value.decode("ascii", "replace")).lower()
            if text in _TRUE:
                return True
            if text in _FALSE:
                return False
            raise _no_boolean(value)
        if isinstance(value, (int, float)):
            if value in (0, 1):
                return bool(value)
            if isinstance(value, int) or value.is_integer():
                raise _no_boolean(value)
    raise invalid("bool_type", "Input should be a valid boolean", value)


def _no_boolean(value):
    return invalid(
        "bool_parsing", "Input should be a valid boolean, unable to interpret input", value)


def raw_bytes(value, strict):
    """Bytes; text in UTF-8 too where it is not strict."""
    if isinstance(value, bytes):
        return value
    if not strict and isinstance(value, str):
        return value.encode()
    if not strict and isinstance(value, bytearray):
        return bytes(value)
    raise invalid("bytes_type", "Input should be a valid bytes", value)


def decimal_number(value, strict):
    """Decimals; floats by their shortest text."""
    if isinstance(value, decimal.Decimal):
        result = value
    elif not strict and isinstance(value, (int, float, str)) and not isinstance(value, bool):
        try:
            result = decimal.Decimal(str(value).strip())
        except decimal.InvalidOperation:
            raise invalid("decimal_parsing", "Input should be a valid decimal", value) from None
    else:
        raise invalid(
            "decimal_type",
            "Decimal input should be an integer, float, string or Decimal object", value)
    if not result.is_finite():
        raise invalid("finite_number", "Input should be a finite number", value)
    return result


def unique_id(value, strict):
    """UUIDs, and text or bytes that say one."""
    if isinstance(value, uuid.UUID):
        return value
    try:
        if isinstance(value, str):
            return uuid.UUID(value)
        if isinstance(value, bytes) and not strict:
            return uuid.UUID(bytes=value)
    except ValueError as error:
        raise invalid("uuid_parsing", f"Input should be a valid UUID, {error}", value) from None
    raise invalid("uuid_type", "UUID input should be a string, bytes or UUID object", value)


def moment(value, strict):
    """Dates with time; ISO text and timestamps too."""
    if isinstance(value, datetime.datetime):
        return value
    if not strict:
        if isinstance(value, datetime.date):
            return datetime.datetime(value.year, value.month, value.day)
        if (stamp := _timestamp(value)) is not None:
            return _from_timestamp(stamp, value)
    if isinstance(value, str):
        try:
            return _zone_named(datetime.datetime.fromisoformat(_iso(value)))
        except ValueError as error:
            raise invalid(
                "datetime_from_date_parsing",
                f"Input should be a valid datetime or date, {_reason(error, value)}", value,
                error=_reason(error, value)
            ) from None
    raise invalid("datetime_type", "Input should be a valid datetime", value)


def _reason(error, text):
    """What is wrong with the text of a date."""
    if len(text.strip()) < len("2020-01-01"):
        return "input is too short"
    for part in ("day", "month", "hour", "minute", "second"):
        if str(error).startswith((f"{part} is out of range", f"{part} must be in")):
            return f"{part} value is outside expected range"
    return str(error)


def _iso(text):
    text = text.strip()
    return text[:-1] + "+00:00" if text[-1:] in ("z", "Z") else text


def _zone_named(value):
    """UTC as the one object that stands for it."""
    if value.tzinfo is not None and not value.utcoffset():
        return value.replace(tzinfo=datetime.timezone.utc)
    return value


def _timestamp(value):
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and re.fullmatch(r"\s*-?\d{5,}(\.\d+)?\s*", value):
        return float(value)
    return None


def _from_timestamp(stamp, value):
    if abs(stamp) > _SECONDS_LIMIT:
        stamp /= 1000
    start = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
    try:
        return start + datetime.timedelta(seconds=stamp)
    except (OverflowError, ValueError):
        raise invalid(
            "datetime_parsing", "Input should be a valid datetime, dates after 9999 are not supported",
            value) from None


def day(value, strict):
    """Dates; ISO text too, and moments at midnight."""
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return value
    found = value
    if isinstance(value, str):
        try:
            return datetime.date.fromisoformat(value.strip())
        except ValueError:
            pass
        try:
            found = datetime.datetime.fromisoformat(_iso(value))
        except ValueError as error:
            raise invalid(
                "date_from_datetime_parsing",
                f"Input should be a valid date or datetime, {_reason(error, value)}", value,
                error=_reason(error, value)
            ) from None
    elif not strict and _timestamp(value) is not None:
        found = _from_timestamp(value, value)
    if isinstance(found, datetime.datetime) and not strict:
        if found.time() == datetime.time():
            return found.date()
        raise invalid(
            "date_from_datetime_inexact",
            "Datetimes provided to dates should have zero time - e.g. be exact dates", value)
    raise invalid("date_type", "Input should be a valid date", value)


def clock_time(value, strict):
    """Times of a day; ISO text and seconds since midnight too."""
    if isinstance(value, datetime.time):
        return value
    if isinstance(value, str):
        try:
            return datetime.time.fromisoformat(_iso(value))
        except ValueError as error:
            raise invalid(
                "time_parsing", f"Input should be in a valid time format, {error}", value,
                error=str(error)) from None
    if not strict and isinstance(value, (int, float)) and 0 <= value < 86400:
        return (datetime.datetime.min + datetime.timedelta(seconds=value)).time()
    raise invalid("time_type", "Input should be a valid time", value)


_DURATION = re.compile(
    r"(?P<sign>[+-])?P(?:(?P<weeks>[\d.]+)W)?(?:(?P<days>[\d.]+)D)?"
    r"(?:T(?:(?P<hours>[\d.]+)H)?(?:(?P<minutes>[\d.]+)M)?(?:(?P<seconds>[\d.]+)S)?)?\Z")
_CLOCK = re.compile(
    r"(?P<sign>[+-])?(?:(?P<days>\d+)\s*(?:d|days?),?\s*)?"
    r"(?:(?P<hours>\d+):(?P<minutes>\d\d)(?::(?P<seconds>\d\d(?:\.\d+)?))?)?\Z")


def duration(value, strict):
    """Spans of time; seconds, ISO durations and `1 day, 02:03:04` too."""
    if isinstance(value, datetime.timedelta):
        return value
    if not strict and isinstance(value, (int, float)) and not isinstance(value, bool):
        return datetime.timedelta(seconds=value)
    if isinstance(value, str):
        match = _DURATION.match(value) or _CLOCK.match(value)
        if match and any(part for name, part in match.groupdict().items() if name != "sign"):
            parts = {name: float(part) for name, part in match.groupdict().items()
                     if part and name != "sign"}
            span = datetime.timedelta(**parts)
            return -span if match["sign"] == "-" else span
        raise invalid(
            "time_delta_parsing", "Input should be a valid timedelta, invalid digit in duration",
            value, error="invalid digit in duration")
    raise invalid("time_delta_type", "Input should be a valid timedelta", value)
