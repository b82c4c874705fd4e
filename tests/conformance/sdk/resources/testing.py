"""Named checks, and what they share: the client, agents that go away, and tools of this process."""

from __future__ import annotations

import inspect
import json
import os
import textwrap
import time
import traceback
import urllib.error
import urllib.request
import uuid
from contextlib import contextmanager
from typing import Callable, Dict, Iterator, List, Tuple

from checks import client, equal, holds
from letta_client import APIStatusError
from letta_client.types import AgentState, Tool

letta = client()

MODEL = "bulkhead/scripted"

# What no one else has, where a server's lists are shared.
MINE = f"c{uuid.uuid4().hex[:8]}"

UNKNOWN = "123e4567-e89b-42d3-8456-426614174000"

CHECKS: List[Tuple[str, Callable[[], None]]] = []


def check(what: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Makes a function a check with a name that says what holds."""

    def named(function: Callable[[], None]) -> Callable[[], None]:
        CHECKS.append((f"{function.__module__.split('.', 1)[-1]}: {what}", function))
        return function

    return named


def run_checks(only: str) -> List[str]:
    """Runs the checks whose name contains `only`, and tells of those that failed."""
    failures = []
    for what, function in CHECKS:
        if only not in what:
            continue
        begun = time.monotonic()
        try:
            function()
        except SystemExit as failed:
            failures.append(f"{what}: {failed}")
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)
            ours = [frame for frame in last if "/resources/" in frame.filename][-1]
            place = f"{os.path.basename(ours.filename)}:{ours.lineno}"
            failures.append(f"{what}: {place}: {type(error).__name__}: {error}")
        if os.environ.get("BULKHEAD_SHOW_CHECKS"):
            print(f"{time.monotonic() - begun:6.2f} s  {what}", flush=True)
    return failures


def refused(call: Callable[[], object], status: int, words: str, what: str) -> None:
    """Fails unless a call is refused with this status and these words."""
    try:
        answer = call()
    except APIStatusError as error:
        # The client's own text quotes the server's, and so changes its quotes.
        told = f"{error.body.get('detail')} {error}" if isinstance(error.body, dict) else str(error)
        holds(error.status_code == status and words in told, f"{what}: {error}")
    else:
        holds(False, f"{what}: refused, but it gave {answer!r}")


@contextmanager
def agent(**settings: object) -> Iterator[AgentState]:
    """An agent with the offline model, deleted afterwards."""
    made = letta.agents.create(**{"model": MODEL, "include_base_tools": False, **settings})
    try:
        yield made
    finally:
        letta.agents.delete(made.id)


@contextmanager
def tools(*functions: Callable, **settings: object) -> Iterator[List[Tool]]:
    """Functions of this process as tools of the server, deleted afterwards."""
    made = [tool(function, **settings) for function in functions]
    try:
        yield made
    finally:
        for each in made:
            letta.tools.delete(each.id)


def tool(function: Callable, **settings: object) -> Tool:
    """A function as a tool, by the release's own way where it has one."""
    if hasattr(letta.tools, "upsert_from_function"):
        return letta.tools.upsert_from_function(func=function, **settings)
    source = textwrap.dedent(inspect.getsource(function))
    return letta.tools.upsert(source_code=source, source_type="python", **settings)


def say(agent_id: str, text: str, **settings: object):
    """One message of a user, and the whole answer."""
    return letta.agents.messages.create(agent_id, input=text, **settings)


def call(name: str, **arguments: object) -> str:
    """A line that has the offline model call a tool."""
    return f"call {name} with {json.dumps(arguments)}"


def kinds(messages) -> List[str]:
    """The types of messages, in order."""
    return [message.message_type for message in messages]


def of_kind(messages, kind: str) -> list:
    """The messages of one type."""
    return [message for message in messages if message.message_type == kind]


def only(messages, kind: str):
    """The one message of a type."""
    found = of_kind(messages, kind)
    equal(len(found), 1, f"messages of type {kind} in {kinds(messages)}")
    return found[0]


def text_of(message) -> str:
    """A message's text, whichever of its two forms it has."""
    if isinstance(message.content, str):
        return message.content
    return "".join(part.text for part in message.content)


def history(agent_id: str, **query: object) -> list:
    """All messages of an agent, the oldest first."""
    return list(letta.agents.messages.list(agent_id, order="asc", **query))


def block_value(agent_id: str, label: str) -> str:
    """What a block of an agent holds."""
    return letta.agents.blocks.retrieve(label, agent_id=agent_id).value


def prompt(agent_id: str) -> str:
    """The stored system prompt."""
    return text_of(only(history(agent_id)[:1], "system_message"))


def get(path: str, **query: object):
    """A route for which the client has no method."""
    return letta.get(path, cast_to=object, options={"params": query})


def post(path: str, body: object):
    """A route for which the client has no method."""
    return letta.post(path, body=body, cast_to=object)


def patch(path: str, body: object):
    """A route for which the client has no method."""
    return letta.patch(path, body=body, cast_to=object)


def delete(path: str):
    """A route for which the client has no method."""
    return letta.delete(path, cast_to=object)


def bare(path: str, body: Dict[str, object]) -> Tuple[int, Dict[str, str], str]:
    """What a request is answered without any client between: status, headers in lower case, text."""
    data = json.dumps(body).encode()
    headers = {"content-type": "application/json"}
    request = urllib.request.Request(os.environ["BULKHEAD_URL"] + path, data, headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            names = {name.lower(): value for name, value in answer.headers.items()}
            return answer.status, names, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, {}, error.read().decode()


def until(what: str, condition: Callable[[], object], seconds: float = 20) -> object:
    """Waits for a condition; what it gave."""
    end = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        holds(time.monotonic() < end, f"{what}, after {seconds} s")
        time.sleep(0.05)
