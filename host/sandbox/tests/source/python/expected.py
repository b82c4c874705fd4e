"""Writes `expected.json`: what a real CPython makes of every case in `cases.json`.

The tools are run as a person would run them, without anything of this project: the real pydantic,
requests and httpx, annotations turned into arguments by pydantic's `TypeAdapter`, and a web server
of the standard library that serves `site.json`. Needed beside CPython 3.11 or newer:

    pip install pydantic requests httpx tzdata
    python3 expected.py
"""

import asyncio
import contextlib
import functools
import inspect
import io
import json
import os
import pathlib
import threading
import typing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pydantic

HERE = pathlib.Path(__file__).parent
SITE = json.loads((HERE / "site.json").read_text())
AGENT = json.loads((HERE / "agent.json").read_text())


class Site(BaseHTTPRequestHandler):
    """Serves `site.json`; `/echo` gives the request back."""

    protocol_version = "HTTP/1.1"

    def answer(self):
        """Answers a request of any method."""
        body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
        path = self.path.partition("?")[0]
        page = SITE.get(path, {"status": 404, "type": "text/plain", "body": "no such page"})
        if path == "/echo":
            own = {name.lower(): value for name, value in self.headers.items()
                   if name.lower().startswith("x-") or name.lower() in ("content-type", "authorization")}
            echo = {"method": self.command, "path": self.path, "headers": own, "body": body}
            page = {"status": 200, "type": "application/json", "body": json.dumps(echo, sort_keys=True)}
        data = page["body"].encode()
        self.send_response(page["status"])
        self.send_header("content-type", page["type"])
        self.send_header("content-length", str(len(data)))
        if "location" in page:
            self.send_header("location", page["location"])
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_PUT = do_DELETE = answer

    def log_message(self, *_):
        """Prints nothing."""


class Block:
    """A memory block of an agent."""

    def __init__(self, data):
        self.label, self.value = data["label"], data["value"]


class Memory:
    """The memory of an agent, as its tools see it."""

    def __init__(self, blocks):
        self.blocks = [Block(block) for block in blocks]

    def list_block_labels(self):
        """All labels."""
        return [block.label for block in self.blocks]

    def get_block(self, label):
        """The block with this label."""
        for block in self.blocks:
            if block.label == label:
                return block
        sections = ", ".join(self.list_block_labels())
        raise KeyError(f"Block field {label} does not exist (available sections = {sections})")

    def update_block_value(self, label, value):
        """Sets a block's text."""
        self.get_block(label).value = value


class Agent:
    """An agent, as its tools see it."""

    def __init__(self, data):
        self.id, self.name = data["id"], data["name"]
        self.memory = Memory(data["blocks"])


def plain(value):
    """The JSON form of a result: models as objects, tuples as lists."""
    if isinstance(value, pydantic.BaseModel):
        return value.model_dump()
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if value is None or isinstance(value, (str, int, float)):
        return value
    return str(value)


def from_text(value, annotation):
    """What a text says in JSON, where a structure is asked for."""
    kind = typing.get_origin(annotation) or annotation
    structured = isinstance(kind, type) and issubclass(kind, (list, dict, pydantic.BaseModel))
    return json.loads(value) if structured and isinstance(value, str) else value


def arguments(function, given, agent):
    """The arguments of a call, made into what the annotations say."""
    made = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if name == "agent_state":
            made[name] = agent
        elif name in given and (given[name] is not None or parameter.default is not None):
            if parameter.annotation is parameter.empty:
                made[name] = given[name]
                continue
            value = from_text(given[name], parameter.annotation)
            made[name] = pydantic.TypeAdapter(parameter.annotation).validate_python(value)
        elif name == "agent_id" and agent is not None:
            made[name] = agent.id
    return made


def tool_of(source, name):
    """The tool: the function of this name, or the last that the source defines at its top."""
    space = {name: getattr(typing, name) for name in typing.__all__}
    space["__name__"] = "tool"
    exec(compile(source, "tool.py", "exec"), space)
    functions = [value for value in space.values()
                 if inspect.isfunction(value) and value.__globals__ is space]
    return space[name] if name else functions[-1]


def run(name, case, base):
    """What one case gives."""
    source = (HERE / "tools" / f"{name}.py").read_text()
    given = json.loads(json.dumps(case["args"]).replace("{base}", base))
    agent = Agent(AGENT) if case.get("agent") else None
    os.environ.update(case.get("env", {}))
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            function = tool_of(source, case.get("function"))
            result = function(**arguments(function, given, agent))
            if inspect.isawaitable(result):
                result = asyncio.run(_wait(result))
    except Exception as error:
        return {"raised": {"kind": type(error).__name__, "message": str(error)}}
    finally:
        for key in case.get("env", {}):
            del os.environ[key]
    value = plain(result)
    found = {"text": value if isinstance(value, str) else str(value), "value": value}
    if agent:
        before = {block["label"]: block["value"] for block in AGENT["blocks"]}
        found["memory"] = {block.label: block.value for block in agent.memory.blocks
                           if block.value != before[block.label]}
    return found


async def _wait(awaitable):
    return await awaitable


def main():
    """Serves the site, runs every case, writes the results."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    one = functools.partial(run, base=f"http://127.0.0.1:{server.server_address[1]}")
    cases = json.loads((HERE / "cases.json").read_text())
    found = {name: [one(name, case) for case in listed] for name, listed in cases.items()}
    text = json.dumps(found, indent=1, ensure_ascii=False)
    (HERE / "expected.json").write_text(text + "\n")
    server.shutdown()
    print(f"{sum(map(len, found.values()))} cases of {len(found)} tools")


if __name__ == "__main__":
    main()
