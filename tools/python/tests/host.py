"""A host in Python: stands for what componentize-py generates from the WIT files."""

import contextlib
import dataclasses
import enum
import io
import json
import os
import pathlib
import sys
import types
import unittest

RUNTIME = pathlib.Path(__file__).resolve().parent.parent / "runtime"


def _module(name, **content):
    module = types.ModuleType(name)
    vars(module).update(content)
    sys.modules[name] = module
    parent, _, last = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], last, module)
    return module


def _record(name, *fields):
    return dataclasses.make_dataclass(name, fields)


def _cases(prefix, *names):
    return {f"{prefix}_{name}": _record(f"{prefix}_{name}", "value") for name in names}


def _empty_cases(prefix, *names):
    return {f"{prefix}_{name}": _record(f"{prefix}_{name}") for name in names}


class Err(Exception):
    """The error side of a result."""

    def __init__(self, value):
        super().__init__(value)
        self.value = value


def _install():
    _module("componentize_py_types", Err=Err, Ok=_record("Ok", "value"))
    for name in ("wit_world", "wit_world.imports", "wit_world.exports"):
        _module(name)
    _module(
        "wit_world.imports.types",
        Output=_record("Output", "content", "structured"), Problem=_record("Problem", "at", "message"),
        Blob=_record("Blob", "media_type", "data"), Link=_record("Link", "uri", "title"),
        Upstream=_record("Upstream", "status", "message", "retry_after_ms", "sent"),
        **_cases("Content", "Text", "Blob", "Link"),
        **_cases("ToolError", "InvalidInput", "Unauthorized", "Denied", "NotFound", "Conflict",
                 "Upstream", "Failed"),
    )
    _module(
        "wit_world.imports.http",
        Request=_record("Request", "method", "url", "headers", "body", "timeout_ms", "credential"),
        Response=_record("Response", "status", "url", "headers", "body"),
        Failure=_record("Failure", "message", "sent"),
        **_cases("HttpError", "Denied", "Unauthorized", "Invalid", "TooLarge", "Failed"),
        **_empty_cases("HttpError", "Timeout"),
    )
    _module("wit_world.imports.peers",
            **_cases("PeerError", "Denied", "Stopped", "Tool", "Unavailable"),
            **_empty_cases("PeerError", "Unknown", "Depth"))
    _module(
        "wit_world.exports.source_runtime",
        Language=enum.Enum("Language", "PYTHON JAVASCRIPT TYPESCRIPT", start=0),
        Source=_record("Source", "language", "text", "function"),
        Fault=_record("Fault", "message", "line", "parameter"),
        Parameter=_record("Parameter", "name", "required"),
        Description=_record("Description", "name", "description", "schema", "parameters", "open"),
        Environment=_record("Environment", "variables", "packages", "agent", "peers"),
        Exception=_record("Exception", "kind", "message", "traceback"),
        Execution=_record("Execution", "ended", "memory"),
        **_cases("Ended", "Returned", "InvalidInput", "Raised", "Exited"),
    )


_install()
sys.path.insert(0, str(RUNTIME))

from bulkhead import call as tool_call  # noqa: E402  (needs the modules above)
from bulkhead import script, waiting  # noqa: E402
from bulkhead.schema import describe as description  # noqa: E402

wit = sys.modules["wit_world.exports.source_runtime"]


class RuntimeTest(unittest.TestCase):
    """Calls the runtime as the host does, and leaves the process as it was."""

    def setUp(self):
        kept = dict(os.environ), list(sys.path), sys.argv, sys.stdin, dict(sys.modules)
        waiting.install()
        self.printed = io.StringIO()
        stack = contextlib.ExitStack()
        stack.enter_context(contextlib.redirect_stdout(self.printed))
        stack.enter_context(contextlib.redirect_stderr(self.printed))
        self.addCleanup(self._restore, *kept)
        self.addCleanup(stack.close)

    def _restore(self, environ, path, argv, stdin, modules):
        os.environ.clear()
        os.environ.update(environ)
        sys.path[:] = path
        sys.argv, sys.stdin = argv, stdin
        for name in ("tool", "__main__"):
            if name in modules:
                sys.modules[name] = modules[name]
            else:
                sys.modules.pop(name, None)

    def describe(self, text, function=None):
        """The description of a source."""
        return description.describe(wit.Source(wit.Language.PYTHON, text, function))

    def schema(self, text, function=None):
        """The schema of a source's tool, as JSON."""
        return json.loads(self.describe(text, function).schema.value)

    def fault(self, text):
        """Why a source's tool has no schema."""
        return self.describe(text).schema.value

    def call(self, text, function=None, *, agent=None, variables=(), peers=(), **arguments):
        """The execution of a call."""
        environment = wit.Environment(
            list(variables), [], json.dumps(agent) if agent else None, list(peers))
        source = wit.Source(wit.Language.PYTHON, text, function)
        return tool_call.call(source, json.dumps(arguments), environment)

    def value(self, text, function=None, **arguments):
        """What a call returned, as JSON."""
        ended = self.call(text, function, **arguments).ended
        self.assertIsInstance(ended, wit.Ended_Returned, ended)
        return json.loads(ended.value.structured)

    def text(self, text, **arguments):
        """What a call returned, as a model reads it."""
        return self.call(text, **arguments).ended.value.content[0].value

    def problems(self, text, **arguments):
        """What is wrong with the arguments: place to text."""
        ended = self.call(text, **arguments).ended
        self.assertIsInstance(ended, wit.Ended_InvalidInput, ended)
        return {problem.at: problem.message for problem in ended.value}

    def raised(self, text, function=None, **arguments):
        """The exception that a call ended with."""
        ended = self.call(text, function, **arguments).ended
        self.assertIsInstance(ended, wit.Ended_Raised, ended)
        return ended.value

    def run_script(self, text, peers=()):
        """How a script ended."""
        source = wit.Source(wit.Language.PYTHON, text, None)
        return script.run(source, wit.Environment([], [], None, list(peers))).ended
