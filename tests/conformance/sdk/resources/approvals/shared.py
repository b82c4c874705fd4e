"""What the checks of approvals share: an agent that has to ask, and answers to what it asks."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import groupby
from typing import Callable, Dict, Iterator

from letta_client.types import AgentState

from ..functions import count_words, open_door
from ..testing import agent, call, equal, get, holds, letta, only, say, tools

ASK = call("open_door", door="front")

# What a person or a client says, which must reach the model.
SECRET = "740845635798344975"


@contextmanager
def careful(**settings: object) -> Iterator[AgentState]:
    """An agent with a tool that waits, `open_door`, and one that does not, `count_words`."""
    with tools(open_door, default_requires_approval=True) as (opens,), tools(count_words) as (counts,):
        ids = [opens.id, counts.id]
        with agent(tool_ids=ids, parallel_tool_calls=True, **settings) as made:
            yield made


def asked(agent_id: str, text: str = ASK, **settings: object):
    """Has the agent call, and gives the request for approval."""
    found = say(agent_id, text, **settings)
    equal(found.stop_reason.stop_reason, "requires_approval", "the stop reason")
    return only(found.messages, "approval_request_message")


def yes(id: str) -> dict:
    return {"type": "approval", "tool_call_id": id, "approve": True}


def no(id: str, reason: str = f"The secret is {SECRET}.") -> dict:
    return {"type": "approval", "tool_call_id": id, "approve": False, "reason": reason}


def mine(id: str, result: str = SECRET) -> dict:
    return {"type": "tool", "tool_call_id": id, "tool_return": result, "status": "success"}


# The ways of an answer to a waiting call, by name.
WAYS: Dict[str, Callable[[str], dict]] = {"approved": yes, "denied": no, "of the client": mine}


def answer(agent_id: str, *approvals: dict, **settings: object):
    """An answer to all waiting calls, and what comes of it as a whole."""
    return letta.agents.messages.create(agent_id, messages=messages(*approvals), **settings)


def answer_streamed(agent_id: str, *approvals: dict, **settings: object) -> list:
    """An answer to all waiting calls, and the events of the stream that it begins."""
    return list(letta.agents.messages.stream(agent_id, messages=messages(*approvals), **settings))


def messages(*approvals: dict) -> list:
    return [{"type": "approval", "approvals": list(approvals)}]


def pending(agent_id: str):
    """The open request of an agent."""
    state = letta.agents.retrieve(agent_id, include=["agent.pending_approval"])
    return state.pending_approval


def has_context(agent_id: str) -> None:
    """Fails unless the context can be read and holds what the agent says that it does."""
    context = get(f"/v1/agents/{agent_id}/context")
    ids = letta.agents.retrieve(agent_id).message_ids
    equal(context["num_messages"], len(ids), "the messages in the context")
    equal([message["id"] for message in context["messages"]], ids[1:], "their ids")


def usable(agent_id: str) -> None:
    """Fails unless the agent takes the next message, in a stream as the tests of the client's users
    have it: something is said, then come the stop reason and the usage."""
    stream = letta.agents.messages.stream(agent_id, input="think hm\nsay You are welcome.", stream_tokens=True)
    expected = ["ping", "reasoning_message", "assistant_message", "stop_reason", "usage_statistics"]
    equal(first_of_each(list(stream)), expected, "the next message")


def first_of_each(events: list) -> list:
    """The types of a stream's events, neighbours of one type taken together as clients do."""
    return [kind for kind, _ in groupby(event.message_type for event in events)]


def ends_well(events: list) -> None:
    """Fails unless a stream ends with its stop reason and its usage."""
    types = [event.message_type for event in events]
    holds(types[-2:] == ["stop_reason", "usage_statistics"], f"the end: {types}")
