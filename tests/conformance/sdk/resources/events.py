"""Events of streams: their frame, and pieces put together as clients do."""

from __future__ import annotations

from typing import Dict, List, Tuple

from .testing import equal, history, holds, kinds, letta

# What is no message.
ENDS = ("ping", "stop_reason", "usage_statistics")


def streamed(agent_id: str, text: str, **settings: object) -> list:
    """All events of a stream."""
    return list(letta.agents.messages.stream(agent_id, input=text, **settings))


def well_formed(events: list) -> list:
    """The messages of a stream, whose frame is checked."""
    types = kinds(events)
    equal(types[0], "ping", f"the first event of {types}")
    holds(events[0].run_id.startswith("run-"), "the run's id in the ping")
    equal(types[-2:], ["stop_reason", "usage_statistics"], f"the last events of {types}")
    equal((types.count("stop_reason"), types.count("usage_statistics")), (1, 1), "each of them once")
    messages = [event for event in events if event.message_type not in ENDS]
    runs = {message.run_id for message in messages}
    equal(runs, {events[0].run_id}, "the run of all messages")
    holds(all(message.seq_id is None for message in messages), "no seq_id in the foreground")
    return messages


def content(message) -> object:
    """What a message is about, in a form in which messages of lists and streams are compared."""
    kind = message.message_type
    if kind == "reasoning_message":
        return message.reasoning
    if kind == "assistant_message":
        return message.content if isinstance(message.content, str) else message.content[0].text
    if kind in ("tool_call_message", "approval_request_message"):
        return [(call.tool_call_id, call.name, call.arguments) for call in message.tool_calls]
    return [(each.tool_call_id, each.status, each.tool_return) for each in message.tool_returns]


def seen(messages: list) -> List[Tuple[object, ...]]:
    """What is equal in an answer, a stream and a list."""
    return [(m.message_type, m.id, m.otid, m.step_id, m.run_id, content(m)) for m in messages]


def stored(agent_id: str, run_id: str) -> List[Tuple[object, ...]]:
    """What the list has of one run, without what the user said."""
    mine = [message for message in history(agent_id) if message.run_id == run_id]
    shown = ("user_message", "system_message", "approval_response_message")
    return seen([message for message in mine if message.message_type not in shown])


class Pieces:
    """Messages put together from pieces, as clients do: by type, id and otid."""

    def __init__(self) -> None:
        self.parts: Dict[Tuple[str, str, str], dict] = {}

    def add(self, message) -> None:
        kind = message.message_type
        part = self.parts.setdefault((kind, message.id, message.otid), {"last": message, "text": ""})
        if kind == "reasoning_message":
            part["text"] += message.reasoning
        elif kind == "assistant_message":
            part["text"] += content(message)
        elif kind in ("tool_call_message", "approval_request_message"):
            self.add_call(part.setdefault("calls", {}), message)
        else:
            part["text"] = content(message)

    def add_call(self, calls: dict, message) -> None:
        delta = message.tool_call
        holds(not isinstance(message.tool_calls, list), "tool_calls is a delta, no list")
        same = (message.tool_calls.tool_call_id, message.tool_calls.name, message.tool_calls.arguments)
        equal(same, (delta.tool_call_id, delta.name, delta.arguments), "tool_call and tool_calls")
        holds(delta.tool_call_id, "each piece has its call's id")
        if delta.tool_call_id not in calls:
            holds(delta.name, "the first piece of a call has its name")
            calls[delta.tool_call_id] = [delta.name, ""]
        calls[delta.tool_call_id][1] += delta.arguments or ""

    def seen(self) -> List[Tuple[object, ...]]:
        found = []
        for (kind, id, otid), part in self.parts.items():
            calls = [(id, name, arguments) for id, (name, arguments) in part.get("calls", {}).items()]
            last = part["last"]
            found.append((kind, id, otid, last.step_id, last.run_id, calls or part["text"]))
        return found
