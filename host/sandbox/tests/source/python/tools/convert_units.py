from functools import reduce, singledispatch

FACTORS = {"m": 1, "km": 1000, "mi": 1609.344, "ft": 0.3048}


@singledispatch
def _parse(value):
    raise TypeError(f"can't convert {type(value).__name__}")


@_parse.register
def _(value: str):
    number, unit = value.split()
    return float(number) * FACTORS[unit]


@_parse.register(list)
def _(value):
    return reduce(lambda total, part: total + _parse(part), value, 0.0)


def convert_units(lengths: list, to: Literal["m", "km", "mi", "ft"] = "m") -> str:
    """Add lengths up.

    Args:
        lengths (list): Texts such as "5 km".
        to (Literal): The unit of the result.
    """
    return f"{_parse(lengths) / FACTORS[to]:.3f} {to}"
