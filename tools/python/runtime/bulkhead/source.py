"""Source text: parsing, the choice of the function that is the tool, and running its module."""

import ast
import builtins
import linecache
import sys
import types
import typing

from .schema.faults import SourceFault

MAX_SOURCE_BYTES = 1 << 20
"""Parsing costs some hundred times the source's size in memory; no hand-written tool comes near."""

FILE_NAME = "tool.py"
"""What tracebacks call the source."""

MODULE_NAME = "tool"
"""Not `__main__`: a tool is called, so its `if __name__ == "__main__":` block must not run."""

FunctionNode = (ast.FunctionDef, ast.AsyncFunctionDef)


class BaseTool:
    """The base of tools that are written as classes with a `run` method."""


def _names_for_source():
    """The built-in names that source sees: Python's own and those of `typing`."""
    names = dict(vars(builtins))
    for name in typing.__all__:
        names.setdefault(name, getattr(typing, name))
    names.update(client=None, BaseTool=BaseTool)
    return names


_BUILTINS = _names_for_source()


def check_size(text):
    """Refuses source that is too large to be parsed within a call's limits."""
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > MAX_SOURCE_BYTES:
        raise SourceFault(
            f"Failed to parse source code: it has {size} bytes, more than the {MAX_SOURCE_BYTES} "
            "that a tool may have; move data out of the source"
        )


def parse(text):
    """The syntax tree; a `SourceFault` says where the source is no Python."""
    check_size(text)
    try:
        return ast.parse(text)
    except SyntaxError as error:
        raise SourceFault(f"Failed to parse source code: {error}", line=error.lineno) from None
    except ValueError as error:
        raise SourceFault(f"Failed to parse source code: {error}") from None
    except (RecursionError, MemoryError):
        raise SourceFault(
            "Failed to parse source code: it is nested too deeply"
        ) from None


def compile_source(code, file_name=FILE_NAME, mode="exec", flags=0):
    """Code from text or a syntax tree, without flags of this module."""
    return compile(code, file_name, mode, flags=flags, dont_inherit=True)


def find_tool(tree, name=None):
    """The node of the tool: the last top-level `def`, or what carries the wanted name."""
    if name is None:
        for node in reversed(tree.body):
            if isinstance(node, ast.FunctionDef):
                return node
        raise SourceFault("No functions found in source code")
    found = None
    for node in tree.body:
        if isinstance(node, FunctionNode) and node.name == name:
            found = node
        elif isinstance(node, ast.ClassDef) and tool_class_name(node) == name:
            found = node
    if found is None:
        raise SourceFault(_not_found(tree, name))
    return found


def _not_found(tree, name):
    names = [node.name for node in tree.body if isinstance(node, FunctionNode)]
    names += [found for node in tree.body if (found := tool_class_name(node))]
    if not names:
        return "No functions found in source code"
    return f"No function '{name}' found in source code; it defines: {', '.join(names)}"


def tool_class_name(node):
    """The `name` of a class that is a tool: one with that attribute and a method `run`."""
    if not isinstance(node, ast.ClassDef) or run_method(node) is None:
        return None
    for statement in node.body:
        if isinstance(statement, ast.Assign):
            targets, value = statement.targets, statement.value
        elif isinstance(statement, ast.AnnAssign):
            targets, value = [statement.target], statement.value
        else:
            continue
        if any(isinstance(target, ast.Name) and target.id == "name" for target in targets):
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                return value.value
    return None


def run_method(node):
    """The method `run` of a class."""
    for statement in node.body:
        if isinstance(statement, FunctionNode) and statement.name == "run":
            return statement
    return None


def new_module(text, name=MODULE_NAME, file_name=FILE_NAME):
    """A fresh module for the source; tracebacks and `inspect` find its lines."""
    module = types.ModuleType(name)
    module.__file__ = file_name
    module.__builtins__ = _BUILTINS
    sys.modules[name] = module
    linecache.cache[file_name] = (len(text), None, text.splitlines(keepends=True), file_name)
    return module


def drop_foreign_schemas(tree):
    """Removes `args_schema = Name` from tool classes where the source does not define the name.

    Clients send such a class alone; the model that its schema was made of stays with them.
    """
    defined = {node.name for node in tree.body if hasattr(node, "name")}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            defined.update((alias.asname or alias.name).split(".")[0] for alias in node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            defined.add(node.id)
    for node in tree.body:
        if tool_class_name(node) is not None:
            node.body = [part for part in node.body if not _is_foreign_schema(part, defined)]
    return tree


def _is_foreign_schema(statement, defined):
    if isinstance(statement, ast.Assign):
        target, value = statement.targets[0], statement.value
    elif isinstance(statement, ast.AnnAssign):
        target, value = statement.target, statement.value
    else:
        return False
    return (
        isinstance(target, ast.Name)
        and target.id == "args_schema"
        and isinstance(value, ast.Name)
        and value.id not in defined
        and value.id not in _BUILTINS
    )
