"""The description of a tool: its name, what its docstring says, and the schema of its arguments."""

import ast

from componentize_py_types import Err, Ok
from wit_world.exports.source_runtime import Description, Parameter

from .. import source as sources
from ..results import clean, to_json
from .annotations import Unsupported, annotation_schema, is_optional
from .classes import Classes
from .docstrings import Docstring, parse as parse_docstring
from .faults import SourceFault, type_error, value_error

FILLED = {"self", "cls", "agent_state"}
"""Parameters that the runtime fills and a caller never sees."""

DEFAULTED = {"agent_id"}
"""Parameters that the runtime fills where the caller leaves them out."""


def describe(source):
    """The record `description`; raises `SourceFault` where there is no function to describe."""
    tree = sources.parse(source.text)
    node = sources.find_tool(tree, source.function)
    if isinstance(node, ast.ClassDef):
        name, function = sources.tool_class_name(node), sources.run_method(node)
        raw = ast.get_docstring(function) or ast.get_docstring(node)
    else:
        name, function, raw = node.name, node, ast.get_docstring(node)
    parsed = parse_docstring(raw) if raw else Docstring()
    try:
        schema = Ok(to_json(_schema(function, name, raw, parsed, Classes(tree))))
    except SourceFault as fault:
        schema = Err(fault.as_wit())
    except RecursionError:
        schema = Err(SourceFault("An annotation is nested too deeply", node.lineno).as_wit())
    arguments = _arguments(function)
    return Description(
        name,
        clean(parsed.text),
        schema,
        [Parameter(argument.arg, _fails_without(argument, default))
         for argument, default in arguments],
        function.args.kwarg is not None,
    )


def _arguments(function):
    """The parameters that a caller passes, each with its default, in the signature's order."""
    spec = function.args
    positional = spec.posonlyargs + spec.args
    defaults = [None] * (len(positional) - len(spec.defaults)) + spec.defaults
    pairs = [*zip(positional, defaults), *zip(spec.kwonlyargs, spec.kw_defaults)]
    return [(argument, default) for argument, default in pairs if argument.arg not in FILLED]


def _is_required(argument, default):
    if default is not None:
        return False
    return argument.annotation is None or not is_optional(argument.annotation)


def _fails_without(argument, default):
    return _is_required(argument, default) and argument.arg not in DEFAULTED


def _schema(function, name, raw, parsed, classes):
    if not raw:
        raise SourceFault(f"Function {name} missing docstring", function.lineno)
    properties, required = {}, []
    for argument, default in _arguments(function):
        properties[argument.arg] = _property(argument, name, parsed, classes)
        if _is_required(argument, default):
            required.append(argument.arg)
    return {"type": "object", "properties": properties, "required": required}


def _property(argument, function_name, parsed, classes):
    name = argument.arg
    if argument.annotation is None:
        raise type_error(
            f"Parameter '{name}' in function '{function_name}' lacks a type annotation",
            argument, name,
        )
    text = parsed.parameters.get(name)
    if not text:
        raise value_error(
            f"Parameter '{name}' in function '{function_name}' lacks a description in the docstring",
            argument, name,
        )
    try:
        schema = annotation_schema(argument.annotation, classes)
    except Unsupported as error:
        raise value_error(str(error), argument, name) from None
    except SyntaxError:
        raise value_error(
            f"The class of parameter '{name}' has an annotation that is no Python", argument, name
        ) from None
    kind = {"type": schema["type"]} if "type" in schema else {}
    rest = {key: value for key, value in schema.items() if key != "type"}
    return {**kind, "description": text, **rest}
