"""JSON Schema of the classes that a source defines: pydantic models, dataclasses, enums."""

import ast

from . import annotations as rules
from .annotations import Unsupported, describe, enum_schema, generic, name_of
from .docstrings import parse as parse_docstring

MAX_NESTING = 16
"""Models within models are written out in place; a model that contains itself ends here."""

MAX_SCHEMA_NODES = 5_000
"""Bounds what classes that name each other many times can unfold to."""

_MODEL_BASES = {"BaseModel"}
_ENUM_BASES = {"Enum", "IntEnum", "StrEnum"}
_TYPED_DICTS = {"TypedDict"}
_FORMATS = {
    "datetime": "date-time", "date": "date", "time": "time", "timedelta": "duration",
    "UUID": "uuid", "EmailStr": "email", "HttpUrl": "uri", "AnyUrl": "uri", "AnyHttpUrl": "uri",
}
_CONSTRAINTS = {
    "ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf", "pattern": "pattern", "regex": "pattern",
}
_ARRAYS = {"list", "List", "Sequence", "Iterable", "set", "Set", "frozenset", "FrozenSet"}


class Classes:
    """The classes of one source by name."""

    def __init__(self, tree):
        self._nodes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
        self._made = 0
        self._open = []

    def __contains__(self, name):
        return name in self._nodes and self._kind(name) is not None

    def schema(self, name):
        """The schema of a class with everything that it refers to written out in place."""
        node = self._nodes[name]
        if self._kind(name) == "enum":
            return self._enum(node)
        self._made += 1
        if self._made > MAX_SCHEMA_NODES:
            raise Unsupported(f"The classes that {name} refers to unfold to too large a schema")
        if len(self._open) >= MAX_NESTING or node in self._open:
            return {"type": "object"}
        self._open.append(node)
        try:
            return self._object(node)
        finally:
            self._open.pop()

    def _kind(self, name, seen=()):
        """What a class is, by its bases and decorators; None if a value can't be made of JSON."""
        node = self._nodes.get(name)
        if node is None or name in seen:
            return None
        if any(_last_name(decorator) == "dataclass" for decorator in node.decorator_list):
            return "object"
        for base in node.bases:
            base_name = _last_name(base)
            if base_name in _ENUM_BASES:
                return "enum"
            if base_name in _MODEL_BASES or base_name in _TYPED_DICTS:
                return "object"
            if kind := self._kind(base_name, (*seen, name)):
                return kind
        return None

    def _enum(self, node):
        is_text = any(_last_name(base) in ("StrEnum", "str") for base in node.bases)
        values, count = [], 0
        for statement in node.body:
            if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
                continue
            name = statement.targets[0].id
            if name.startswith("_"):
                continue
            count += 1
            value = _enum_value(statement.value, name, count, is_text)
            if value not in values:
                values.append(value)
        if not values:
            raise Unsupported(f"The enum {node.name} has no members")
        return enum_schema(values, f"The enum {node.name}")

    def _object(self, node):
        properties, required = {}, []
        total = True
        for owner in self._lineage(node):
            texts = parse_docstring(ast.get_docstring(owner) or "").parameters
            if any(word.arg == "total" and _constant(word.value) is False for word in owner.keywords):
                total = False
            for field in _fields(owner):
                schema, has_default = self._field(field, texts.get(field.target.id))
                name = _alias(field) or field.target.id
                properties[name] = schema
                required = [other for other in required if other != name]
                if not has_default and total:
                    required.append(name)
        schema = {"type": "object", "properties": properties}
        if required:
            schema["required"] = required
        return schema

    def _lineage(self, node):
        """The class after those of its bases that the source defines."""
        line, pending = [], [node]
        while pending:
            current = pending.pop()
            if current in line:
                continue
            line.append(current)
            pending += [self._nodes[name] for base in reversed(current.bases)
                        if (name := _last_name(base)) in self._nodes]
        return list(reversed(line))

    def _field(self, field, text):
        """The schema of a field, and whether it has a default."""
        annotation, marks = _without_annotated(field.annotation)
        schema = dict(self._annotation(annotation))
        call = field.value if _is_field_call(field.value) else None
        for mark in marks + ([call] if call else []):
            _constrain(schema, mark)
            text = _keyword(mark, "description") or text
        if text:
            schema = {"description": text, **schema}
            schema = {key: schema[key] for key in _ordered(schema)}
        return schema, _has_default(field.value, call, marks)

    def _annotation(self, node):
        """Annotations of fields: all that parameters may have, and what pydantic knows besides."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node = ast.parse(node.value, mode="eval").body
        if isinstance(node, ast.Constant) and node.value is None:
            return {"type": "null"}
        node, _ = _without_annotated(_without_module(node))
        name = name_of(node)
        if name == "Any":
            return {}
        if name in _FORMATS and name not in self:
            return {"type": "string", "format": _FORMATS[name]}
        if name == "Decimal":
            return {"type": "number"}
        if name == "bytes":
            return {"type": "string"}
        if name in ("set", "Set", "frozenset", "tuple", "Tuple", "Sequence"):
            return {"type": "array"}
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return self._union([node.left, node.right])
        outer, arguments = generic(node)
        if outer in ("Optional", "Required", "NotRequired", "ClassVar", "Final"):
            return self._annotation(arguments[0])
        if outer == "Union":
            return self._union(arguments)
        if outer in _ARRAYS:
            schema = {"type": "array", "items": self._annotation(arguments[0])}
            return {**schema, "uniqueItems": True} if "et" in outer else schema
        if outer in ("tuple", "Tuple"):
            return self._tuple(arguments)
        if outer in ("dict", "Dict", "Mapping") and len(arguments) == 2:
            return {"type": "object", "additionalProperties": self._annotation(arguments[1])}
        return rules.annotation_schema(node, self)

    def _union(self, arguments):
        """`X | None` is the schema of X: a value that is missing is left out."""
        choices = [node for node in arguments if not _is_none(node)]
        if len(choices) == 1:
            return self._annotation(choices[0])
        return {"anyOf": [self._annotation(node) for node in choices]}

    def _tuple(self, arguments):
        if len(arguments) == 2 and _constant(arguments[1]) is Ellipsis:
            return {"type": "array", "items": self._annotation(arguments[0])}
        return {
            "type": "array",
            "prefixItems": [self._annotation(node) for node in arguments],
            "minItems": len(arguments),
            "maxItems": len(arguments),
        }


def _enum_value(node, name, count, is_text):
    if isinstance(node, ast.Call) and _last_name(node.func) == "auto":
        return name.lower() if is_text else count
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise Unsupported(
            f"The member {name} of an enum has the value {describe(node)}, which is no constant"
        ) from None


def _fields(node):
    """The annotated names of a class that are fields."""
    for statement in node.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            is_class_variable = generic(_without_module(statement.annotation))[0] == "ClassVar"
            if not statement.target.id.startswith("_") and not is_class_variable:
                yield statement


def _last_name(node):
    """`b` of `a.b`, `b(…)` or `b[…]`."""
    while isinstance(node, (ast.Call, ast.Subscript)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.attr if isinstance(node, ast.Attribute) else name_of(node)


def _without_module(node):
    """`datetime.date` as `date`, `typing.List[int]` as `List[int]`."""
    if isinstance(node, ast.Attribute):
        return ast.Name(node.attr)
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute):
        return ast.Subscript(ast.Name(node.value.attr), node.slice)
    return node


def _without_annotated(node):
    """The type inside of `Annotated[type, Field(…)]`, and the calls beside it."""
    outer, arguments = generic(_without_module(node))
    if outer != "Annotated":
        return node, []
    return arguments[0], [mark for mark in arguments[1:] if _is_field_call(mark)]


def _is_field_call(node):
    return isinstance(node, ast.Call) and _last_name(node.func) in ("Field", "field")


def _has_default(value, call, marks):
    if value is None:
        return any(_keyword_node(mark, "default") or _keyword_node(mark, "default_factory")
                   for mark in marks)
    if call is None:
        return _constant(value) is not Ellipsis
    if call.args:
        return _constant(call.args[0]) is not Ellipsis
    default = _keyword_node(call, "default")
    if default is not None:
        return _constant(default) is not Ellipsis
    return _keyword_node(call, "default_factory") is not None


def _keyword_node(call, name):
    for word in call.keywords:
        if word.arg == name:
            return word.value
    return None


def _keyword(call, name):
    """The constant given for a keyword of `Field(…)`."""
    node = _keyword_node(call, name)
    if node is None:
        return None
    try:
        return ast.literal_eval(node)
    except ValueError:
        return None


def _alias(field):
    return _keyword(field.value, "alias") if _is_field_call(field.value) else None


def _constrain(schema, call):
    """Adds what `Field(…)` says about the value."""
    for name, key in _CONSTRAINTS.items():
        if (value := _keyword(call, name)) is not None:
            schema[key] = value
    suffix = {"array": "Items", "object": "Properties"}.get(schema.get("type"), "Length")
    for name, prefix in (("min_length", "min"), ("max_length", "max")):
        if (value := _keyword(call, name)) is not None:
            schema[prefix + suffix] = value


def _ordered(schema):
    """`type` before `description`, as in the schemas of parameters."""
    return sorted(schema, key=lambda key: {"type": 0, "description": 1}.get(key, 2))


def _constant(node):
    return node.value if isinstance(node, ast.Constant) else node


def _is_none(node):
    return isinstance(node, ast.Constant) and node.value is None
