"""Limits of values: what `Field(gt=…, max_length=…, pattern=…)` asks for."""

import math
import re

from .errors import invalid

_COMPARISONS = (
    ("gt", "greater_than", "greater than", lambda value, limit: value > limit),
    ("ge", "greater_than_equal", "greater than or equal to", lambda value, limit: value >= limit),
    ("lt", "less_than", "less than", lambda value, limit: value < limit),
    ("le", "less_than_equal", "less than or equal to", lambda value, limit: value <= limit),
)
_TITLES = {list: "List", tuple: "Tuple", set: "Set", frozenset: "Frozenset", dict: "Dictionary"}


def constrained(validate, limits):
    """The validator followed by the checks that the limits ask for."""
    checks = list(_checks(limits))
    strict_always = limits.get("strict")
    if not checks and strict_always is None:
        return validate

    def check_all(value, strict):
        value = validate(value, strict if strict_always is None else strict_always)
        if value is not None:
            for check in checks:
                value = check(value)
        return value

    return check_all


def _checks(limits):
    for transform in ("strip_whitespace", "to_lower", "to_upper"):
        if limits.get(transform):
            name = {"strip_whitespace": "strip", "to_lower": "lower", "to_upper": "upper"}[transform]
            yield lambda value, name=name: getattr(value, name)()
    for name, kind, words, holds in _COMPARISONS:
        if limits.get(name) is not None:
            yield _comparison(name, kind, words, holds, limits[name])
    if limits.get("multiple_of") is not None:
        yield _multiple(limits["multiple_of"])
    if limits.get("allow_inf_nan") is False:
        yield _finite
    if limits.get("min_length") is not None:
        yield _shortest(limits["min_length"])
    if limits.get("max_length") is not None:
        yield _longest(limits["max_length"])
    if limits.get("pattern") is not None:
        yield _matching(limits["pattern"])
    if limits.get("max_digits") is not None or limits.get("decimal_places") is not None:
        yield _digits(limits.get("max_digits"), limits.get("decimal_places"))


def _comparison(name, kind, words, holds, limit):
    def check(value):
        if holds(value, limit):
            return value
        raise invalid(kind, f"Input should be {words} {limit}", value, **{name: limit})

    return check


def _multiple(factor):
    def check(value):
        rest = value % factor
        if rest == 0 or isinstance(factor, float) and math.isclose(rest, factor, rel_tol=1e-9):
            return value
        raise invalid(
            "multiple_of", f"Input should be a multiple of {factor}", value, multiple_of=factor)

    return check


def _finite(value):
    if math.isfinite(value):
        return value
    raise invalid("finite_number", "Input should be a finite number", value)


def _counted(count, what):
    return f"{count} {what}{'' if count == 1 else 's'}"


def _shortest(limit):
    def check(value):
        if len(value) >= limit:
            return value
        if isinstance(value, (str, bytes)):
            word, kind = ("String", "string") if isinstance(value, str) else ("Data", "bytes")
            unit = "character" if isinstance(value, str) else "byte"
            raise invalid(
                f"{kind}_too_short", f"{word} should have at least {_counted(limit, unit)}", value,
                min_length=limit)
        title = _title(value)
        raise invalid(
            "too_short",
            f"{title} should have at least {_counted(limit, 'item')} after validation, "
            f"not {len(value)}",
            value, field_type=title, min_length=limit, actual_length=len(value))

    return check


def _longest(limit):
    def check(value):
        if len(value) <= limit:
            return value
        if isinstance(value, (str, bytes)):
            word, kind = ("String", "string") if isinstance(value, str) else ("Data", "bytes")
            unit = "character" if isinstance(value, str) else "byte"
            raise invalid(
                f"{kind}_too_long", f"{word} should have at most {_counted(limit, unit)}", value,
                max_length=limit)
        title = _title(value)
        raise invalid(
            "too_long",
            f"{title} should have at most {_counted(limit, 'item')} after validation, "
            f"not {len(value)}",
            value, field_type=title, max_length=limit, actual_length=len(value))

    return check


def _title(value):
    return next((title for kind, title in _TITLES.items() if isinstance(value, kind)), "Value")


def _matching(pattern):
    compiled = re.compile(pattern)

    def check(value):
        if compiled.search(value):
            return value
        raise invalid(
            "string_pattern_mismatch", f"String should match pattern '{compiled.pattern}'", value,
            pattern=compiled.pattern)

    return check


def _digits(most, places):
    def check(value):
        _, digits, exponent = value.as_tuple()
        decimals = max(0, -exponent)
        count = max(len(digits) + max(0, exponent), decimals)
        if most is not None and count > most:
            raise invalid(
                "decimal_max_digits",
                f"Decimal input should have no more than {_counted(most, 'digit')} in total", value,
                max_digits=most)
        if places is not None and decimals > places:
            raise invalid(
                "decimal_max_places",
                "Decimal input should have no more than "
                f"{_counted(places, 'decimal place')}", value, decimal_places=places)
        return value

    return check
