"""The parameters of a function.

`inspect.signature` answers the same question; it touches so much memory of the snapshot that it
would be the larger part of a short call. It is asked only for callables that are no plain functions.
"""

import inspect
import types

try:
    import annotationlib
except ImportError:
    annotationlib = None

MISSING = inspect.Parameter.empty
"""In the place of a default or an annotation that is not there."""

POSITIONAL_ONLY, NORMAL, VAR_POSITIONAL, KEYWORD_ONLY, VAR_KEYWORD = map(int, (
    inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.KEYWORD_ONLY,
    inspect.Parameter.VAR_KEYWORD))


class Parameter:
    """One parameter."""

    __slots__ = ("name", "kind", "default", "annotation")

    def __init__(self, name, kind, default, annotation):
        self.name = name
        self.kind = kind
        self.default = default
        self.annotation = annotation


def parameters(function):
    """The parameters that a call fills, in order, and the namespace of their annotations."""
    plain, bound = function, 0
    if isinstance(plain, types.MethodType):
        plain, bound = plain.__func__, 1
    if type(plain) is types.FunctionType and not plain.__dict__:
        return _of_function(plain)[bound:], plain.__globals__
    return _inspected(function), getattr(inspect.unwrap(plain), "__globals__", {})


def _of_function(function):
    code = function.__code__
    names = code.co_varnames
    annotations = _annotations(function)
    count, named = code.co_argcount, code.co_kwonlyargcount
    defaults = function.__defaults__ or ()
    first_default = count - len(defaults)
    found = []
    for index in range(count):
        name = names[index]
        kind = POSITIONAL_ONLY if index < code.co_posonlyargcount else NORMAL
        default = defaults[index - first_default] if index >= first_default else MISSING
        found.append(Parameter(name, kind, default, annotations.get(name, MISSING)))
    fallback = function.__kwdefaults__ or {}
    for name in names[count:count + named]:
        default = fallback.get(name, MISSING)
        found.append(Parameter(name, KEYWORD_ONLY, default, annotations.get(name, MISSING)))
    rest = count + named
    for flag, kind in ((inspect.CO_VARARGS, VAR_POSITIONAL), (inspect.CO_VARKEYWORDS, VAR_KEYWORD)):
        if code.co_flags & flag:
            found.append(Parameter(names[rest], kind, MISSING, MISSING))
            rest += 1
    return found


def _annotations(function):
    """The annotations; names that the source lacks stay unresolved instead of raising."""
    try:
        return function.__annotations__
    except Exception:
        if annotationlib is None:
            return {}
        return annotationlib.get_annotations(function, format=annotationlib.Format.FORWARDREF)


def _inspected(function):
    late = {}
    if annotationlib is not None:
        late["annotation_format"] = annotationlib.Format.FORWARDREF
    return [Parameter(found.name, int(found.kind), found.default, found.annotation)
            for found in inspect.signature(function, **late).parameters.values()]
