"""Calling a tool: its source runs in a fresh module, then its function with the arguments."""

import ast
import types

from wit_world.exports.source_runtime import Ended_InvalidInput, Ended_Returned, Execution

from . import agent as agents
from . import arguments, environment, failures, peers, results, waiting
from . import source as sources
from .schema.faults import SourceFault


def call(source, text, settings):
    """The record `execution` of one call."""
    agent = None
    memory = None
    try:
        environment.enter(settings, sources.FILE_NAME)
        agent = agents.agent_state(settings.agent)
        given = arguments.parse(text)
        name, function = _load(source, settings)
        positional, named = arguments.bind(function, given, agent, name)
        value = function(*positional, **named)
        if hasattr(value, "__await__"):
            value = waiting.result_of(value)
        ended = Ended_Returned(results.output(value))
        memory = _memory(agent)
    except arguments.InvalidInput as error:
        ended = Ended_InvalidInput(error.problems)
    except SourceFault as fault:
        ended = failures.ended(SyntaxError(fault.message), sources.FILE_NAME)
    except BaseException as error:
        ended = failures.ended(error, sources.FILE_NAME)
    environment.leave()
    return Execution(ended, memory)


def _load(source, settings):
    """Runs the source and finds its tool: the name, and what to call."""
    name = source.function
    tree = None
    if name is None or "args_schema" in source.text:
        tree = _parsed(source.text)
    if name is None:
        name = sources.find_tool(tree).name
    if tree is None:
        sources.check_size(source.text)
        code = sources.compile_source(source.text)
    else:
        code = sources.compile_source(sources.drop_foreign_schemas(tree))
    module = sources.new_module(source.text)
    namespace = vars(module)
    peers.install(settings.peers, namespace)
    exec(code, namespace)
    return name, _callable(namespace, name)


def _parsed(text):
    """The syntax tree; a syntax error stays what it is, with its line in the traceback."""
    sources.check_size(text)
    return sources.compile_source(text, flags=ast.PyCF_ONLY_AST)


def _callable(namespace, name):
    """The tool that the module defines under this name, or as a class with it."""
    found = namespace.get(name)
    if callable(found) and not isinstance(found, peers.Peer):
        return _method(found) if isinstance(found, type) and hasattr(found, "run") else found
    for value in reversed(list(namespace.values())):
        if isinstance(value, type) and getattr(value, "name", None) == name:
            return _method(value)
    names = [key for key, value in namespace.items()
             if isinstance(value, types.FunctionType) and value.__globals__ is namespace]
    raise NameError(
        f"name {name!r} is not defined: the source has no function of this name; it defines: "
        f"{', '.join(names) or 'none'}"
    )


def _method(tool):
    return tool().run


def _memory(agent):
    changed = agent.changed_blocks() if agent is not None else {}
    return results.to_json(changed) if changed else None
