"""From the input, a JSON object, to the arguments of a Python function."""

import itertools
import json

from wit_world.imports.types import Problem

from . import coercion
from .results import clean
from .signature import MISSING, POSITIONAL_ONLY, VAR_KEYWORD, VAR_POSITIONAL, parameters

_VARIADIC = (VAR_POSITIONAL, VAR_KEYWORD)
_decode = json.JSONDecoder().decode
_STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
_OTHERS = bytes(set(range(256)) - set(_STEPS))

MAX_NESTING = 500
"""Far more than people nest, and less than what the decoder's recursion has stack for."""


class InvalidInput(Exception):
    """Input that the function can't be called with."""

    def __init__(self, problems):
        super().__init__("; ".join(problem.message for problem in problems))
        # They show parts of the input, which can hold what UTF-8 can't.
        self.problems = [Problem(clean(problem.at), clean(problem.message)) for problem in problems]


def parse(text):
    """The input as a dictionary."""
    if _is_deep(text):
        raise InvalidInput([Problem("", f"the arguments are nested more than {MAX_NESTING} deep")])
    try:
        value = _decode(text)
    except ValueError as error:
        raise InvalidInput([Problem("", f"the arguments are not JSON: {error}")]) from None
    if not isinstance(value, dict):
        raise InvalidInput([Problem("", "the arguments must be one JSON object, name to value")])
    return value


def _is_deep(text):
    if text.count("[") + text.count("{") <= MAX_NESTING:
        return False
    outside_of_texts = "".join(text.replace("\\\\", "").replace('\\"', "").split('"')[::2])
    brackets = outside_of_texts.encode("utf-8", "replace").translate(None, _OTHERS)
    return max(itertools.accumulate(map(_STEPS.get, brackets)), default=0) > MAX_NESTING


def bind(function, given, agent, name):
    """Positional and named arguments for the function, made of what was given."""
    wanted, namespace = parameters(function)
    binder = _Binder(name, namespace)
    positional, named = [], {}
    known, open_ended = set(), False
    for parameter in wanted:
        if parameter.kind in _VARIADIC:
            open_ended = open_ended or parameter.kind == VAR_KEYWORD
            continue
        known.add(parameter.name)
        found, value = binder.value(parameter, given, agent)
        if not found:
            continue
        if parameter.kind == POSITIONAL_ONLY:
            positional.append(value)
        else:
            named[parameter.name] = value
    extra = [key for key in given if key not in known]
    if open_ended:
        named.update((key, given[key]) for key in extra)
    elif extra:
        binder.refuse(extra, wanted)
    if binder.problems:
        raise InvalidInput(binder.problems)
    return positional, named


class _Binder:
    """Makes one value after the other and keeps what is wrong."""

    def __init__(self, name, namespace):
        self.name = name
        self.namespace = namespace
        self.problems = []

    def value(self, parameter, given, agent):
        """Whether there is a value for the parameter, and the value."""
        name = parameter.name
        if name == "agent_state":
            return True, agent
        if name in given:
            return True, self._made(parameter, given[name])
        if name == "agent_id" and agent is not None:
            return True, agent.id
        if parameter.default is not MISSING:
            return False, None
        if coercion.takes_none(parameter.annotation):
            return True, None
        self.problems.append(
            Problem(pointer([name]), f"{self.name} needs the argument {name!r}, which is missing")
        )
        return False, None

    def _made(self, parameter, value):
        if value is None and parameter.default is None:
            return None
        try:
            return coercion.coerce(value, parameter.annotation, self.namespace)
        except coercion.Mismatch as error:
            self.problems += [
                Problem(pointer([parameter.name, *path]), text) for path, text in error.details
            ]
            return None

    def refuse(self, extra, wanted):
        """Reports arguments that the function does not take."""
        names = [_shown(parameter) for parameter in wanted
                 if parameter.kind not in _VARIADIC and parameter.name != "agent_state"]
        takes = ", ".join(names) or "nothing"
        self.problems += [
            Problem(pointer([key]), f"{self.name} takes no argument {key!r}; it takes: {takes}")
            for key in extra
        ]


def _shown(parameter):
    if parameter.default is MISSING:
        return parameter.name
    return f"{parameter.name} (optional)"


def pointer(path):
    """A JSON Pointer."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)
