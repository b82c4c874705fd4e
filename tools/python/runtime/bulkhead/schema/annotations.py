"""JSON Schema of the annotation of a parameter, by the rules that clients know.

What those rules refuse for parameters stays refused; fields of classes may say more
(`schema.classes`).
"""

import ast

SCALARS = {"str": "string", "int": "integer", "float": "number", "bool": "boolean"}
_LISTS = {"list", "List"}
_DICTS = {"dict", "Dict"}
_FULL_MAP = (
    "{<class 'int'>: 'integer', <class 'str'>: 'string', <class 'bool'>: 'boolean', "
    "<class 'float'>: 'number', None: 'null'}"
)


class Unsupported(Exception):
    """An annotation without a JSON Schema; the text says which."""


def name_of(node):
    """The name that an annotation consists of."""
    return node.id if isinstance(node, ast.Name) else None


def generic(node):
    """The name and the arguments of `Name[arguments]`."""
    if not isinstance(node, ast.Subscript) or name_of(node.value) is None:
        return None, []
    inner = node.slice
    return node.value.id, list(inner.elts) if isinstance(inner, ast.Tuple) else [inner]


def is_optional(node):
    """Whether a parameter with this annotation may be left out."""
    return generic(node)[0] == "Optional"


def annotation_schema(node, classes):
    """The schema of a parameter's annotation; raises `Unsupported`."""
    name = name_of(node)
    if name in SCALARS:
        return {"type": SCALARS[name]}
    if name in _LISTS:
        return {"type": "array", "items": {"type": "string"}}
    if name in _DICTS:
        return {"type": "object"}
    if name is not None and name in classes:
        return classes.schema(name)
    outer, arguments = generic(node)
    if outer == "Optional" and len(arguments) == 1:
        return annotation_schema(arguments[0], classes)
    if outer in _LISTS and len(arguments) == 1:
        return {"type": "array", "items": annotation_schema(arguments[0], classes)}
    if outer in _DICTS:
        raise Unsupported(
            f"Dictionary types dict['{ast.unparse(node.slice)}'] with nested type arguments are "
            "not supported (consider using a Pydantic model instead)"
        )
    if outer == "Literal":
        return literal_schema(arguments, node)
    raise Unsupported(
        f"Python type {describe(node)} has no corresponding JSON schema type - full map: {_FULL_MAP}"
    )


def describe(node):
    """An annotation as error texts show it: arguments in parentheses."""
    if isinstance(node, ast.Subscript):
        return f"{ast.unparse(node.value)}[{ast.unparse(node.slice)}]"
    return ast.unparse(node)


def literal_schema(arguments, node):
    """An enum; its type is named where all values have the same one."""
    values = []
    for argument in arguments:
        try:
            values.append(ast.literal_eval(argument))
        except ValueError:
            raise Unsupported(f"{describe(node)} has a value that is no constant") from None
    return enum_schema(values, describe(node))


def enum_schema(values, what):
    """The schema of a choice between JSON values."""
    if not all(value is None or isinstance(value, (str, int, float)) for value in values):
        raise Unsupported(f"{what} has a value that JSON does not know")
    kinds = {type(value) for value in values}
    schema = {"enum": values}
    if len(kinds) == 1 and (name := kinds.pop().__name__) in SCALARS:
        schema = {"type": SCALARS[name], **schema}
    return schema
