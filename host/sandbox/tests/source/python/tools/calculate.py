import operator
import re

TOKEN = re.compile(r"\s*(?:(?P<number>\d+(?:\.\d+)?)|(?P<sign>[-+*/^()]))")
OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "^": pow}
PRECEDENCE = {"+": 1, "-": 1, "*": 2, "/": 2, "^": 3}


def tokens(text):
    position = 0
    while position < len(text.rstrip()):
        match = TOKEN.match(text, position)
        if match is None:
            raise ValueError(f"unexpected character {text[position]!r} at {position}")
        position = match.end()
        yield match.lastgroup, match[match.lastgroup]


def calculate(expression: str) -> float:
    """Work out an arithmetic expression without evaluating it as code.

    Args:
        expression (str): Numbers, parentheses and the operators + - * / ^.
    """
    stream = list(tokens(expression)) + [("end", "")]

    def atom():
        kind, value = stream.pop(0)
        if kind == "number":
            return float(value)
        if value == "-":
            return -climb(3)
        if value == "(":
            inner = climb(1)
            if stream.pop(0)[1] != ")":
                raise ValueError("a parenthesis is not closed")
            return inner
        raise ValueError(f"a number was expected, not {value or 'the end'!r}")

    def climb(least):
        left = atom()
        while (sign := stream[0][1]) in PRECEDENCE and PRECEDENCE[sign] >= least:
            stream.pop(0)
            above = PRECEDENCE[sign] + (sign != "^")
            left = OPERATORS[sign](left, climb(above))
        return left

    result = climb(1)
    if stream[0][0] != "end":
        raise ValueError(f"{stream[0][1]!r} is left over")
    return result
