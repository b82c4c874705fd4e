"""Running a script: its result is the value of its last expression."""

import ast
import inspect

from wit_world.exports.source_runtime import Ended_Returned, Execution
from wit_world.imports.types import Content_Text, Output

from . import environment, failures, peers, results, waiting
from . import source as sources

FILE_NAME = "script.py"


def run(source, settings):
    """The record `execution` of one run."""
    try:
        environment.enter(settings, FILE_NAME)
        module = sources.new_module(source.text, "__main__", FILE_NAME)
        namespace = vars(module)
        peers.install(settings.peers, namespace)
        ended = Ended_Returned(_output(_evaluate(source.text, namespace)))
    except BaseException as error:
        ended = failures.ended(error, FILE_NAME)
    environment.leave()
    return Execution(ended, None)


def _evaluate(text, namespace):
    """Runs everything; the value of the last statement if it is an expression."""
    sources.check_size(text)
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    tree = sources.compile_source(text, FILE_NAME, "exec", flags | ast.PyCF_ONLY_AST)
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = ast.Expression(tree.body.pop().value)
    _execute(sources.compile_source(tree, FILE_NAME, "exec", flags), namespace)
    if last is None:
        return None
    return _execute(sources.compile_source(last, FILE_NAME, "eval", flags), namespace)


def _execute(code, namespace):
    value = eval(code, namespace)
    if code.co_flags & inspect.CO_COROUTINE:
        value = waiting.result_of(value)
    return value


def _output(value):
    """The value as a notebook shows it: None is nothing."""
    if value is None:
        return Output([], "null")
    plain = results.jsonable(value)
    return Output([Content_Text(results.clean(repr(value)))], results.to_json(plain))
