"""Streams: whole messages and pieces of them."""

from __future__ import annotations

import json
from typing import Dict, List, Tuple

from .functions import count_words, open_door
from .testing import agent, bare, call, check, equal, history, holds, kinds, letta, of_kind, say, tools
from .testing import refused, until

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


TURN = "think I shall count.\nsay Counting.\ncall count_words with {\"text\": \"a b c\"}\nthen\nsay Three."
SHAPE = [
    "reasoning_message",
    "assistant_message",
    "tool_call_message",
    "tool_return_message",
    "assistant_message",
]


@check("a stream of steps has each message whole, as the list has it")
def by_step() -> None:
    with tools(count_words) as (counts,), agent(tool_ids=[counts.id]) as made:
        events = streamed(made.id, TURN)
        messages = well_formed(events)
        equal(kinds(messages), SHAPE, "the messages")
        equal(events[-2].stop_reason, "end_turn", "the stop reason")
        usage = events[-1]
        equal(usage.step_count, 2, "the steps")
        equal(usage.total_tokens, usage.prompt_tokens + usage.completion_tokens, "the tokens")
        equal(seen(messages), stored(made.id, events[0].run_id), "what is listed")


@check("an answer as a whole has the same messages as the list")
def as_a_whole() -> None:
    with tools(count_words) as (counts,), agent(tool_ids=[counts.id]) as made:
        answer = say(made.id, TURN)
        equal(kinds(answer.messages), SHAPE, "the messages")
        equal(seen(answer.messages), stored(made.id, answer.messages[0].run_id), "what is listed")


@check("pieces of a stream of tokens make the messages that the list has")
def by_token() -> None:
    with tools(count_words) as (counts,), agent(tool_ids=[counts.id]) as made:
        events = streamed(made.id, TURN, stream_tokens=True)
        messages = well_formed(events)
        pieces = Pieces()
        for message in messages:
            pieces.add(message)
        equal(pieces.seen(), stored(made.id, events[0].run_id), "what is listed")
        holds(len(of_kind(messages, "reasoning_message")) > 1, "reasoning comes in pieces")
        holds(len(of_kind(messages, "tool_call_message")) > 1, "arguments come in pieces")
        equal(len(of_kind(messages, "tool_return_message")), 1, "results come whole")


@check("a waiting call is streamed in pieces with the ids of the list")
def approval_by_token() -> None:
    with tools(open_door, default_requires_approval=True) as (opens,):
        with agent(tool_ids=[opens.id]) as made:
            text = "say Opening.\n" + call("open_door", door="front")
            events = streamed(made.id, text, stream_tokens=True)
            messages = well_formed(events)
            pieces = Pieces()
            for message in messages:
                pieces.add(message)
            equal(events[-2].stop_reason, "requires_approval", "the stop reason")
            equal(pieces.seen()[-1][0], "approval_request_message", "the last message")
            first = of_kind(messages, "approval_request_message")[0].tool_call
            equal((first.name, first.arguments), ("open_door", None), "the first piece")
            listed = stored(made.id, events[0].run_id)
            request = [each for each in listed if each[0] == "approval_request_message"]
            equal(pieces.seen()[-1:], request, "the request in the list")
            id, otid = request[0][1:3]
            equal(id, otid, "the request's otid is its id")


@check("pings can be left out")
def without_pings() -> None:
    with agent() as made:
        holds("ping" not in kinds(streamed(made.id, "say Hi.", include_pings=False)), "no ping")


@check("messages.create streams too")
def through_create() -> None:
    with agent() as made:
        create = letta.agents.messages.create
        events = list(create(made.id, input="say Hi.", streaming=True, stream_tokens=True))
        pieces = Pieces()
        for message in well_formed(events):
            pieces.add(message)
        equal([each[-1] for each in pieces.seen()], ["Hi."], "the answer")


@check("events are single lines of compact JSON, and [DONE] is the last")
def framing() -> None:
    with agent() as made:
        status, headers, text = bare(f"/v1/agents/{made.id}/messages/stream", {"input": "say Hi."})
        equal(status, 200, "the status")
        equal(headers["content-type"], "text/event-stream; charset=utf-8", "the type")
        events = text.split("\n\n")
        equal(events[-2:], ["data: [DONE]", ""], "the end")
        for event in events[:-2]:
            holds(event.startswith("data: {") and "\n" not in event, f"an event: {event!r}")
            data = event[len("data: ") :]
            compact = json.dumps(json.loads(data), separators=(",", ":"), ensure_ascii=False)
            equal(data, compact, "compact JSON")
        message = json.loads(events[1][len("data: ") :])
        for field in ("name", "sender_id", "seq_id", "is_err"):
            holds(field in message and message[field] is None, f"a null: {field} of {message}")


@check("a run in the background is streamed again from any place")
def in_background() -> None:
    with agent() as made:
        events = streamed(made.id, "think Hm.\nsay Hi.", background=True)
        messages = [event for event in events if event.message_type not in ENDS]
        equal([events[0].seq_id, *(each.seq_id for each in messages)], [1, 2, 3], "the numbers")
        run_id = events[0].run_id
        until("the run ends", lambda: letta.runs.retrieve(run_id).status == "completed")
        holds(letta.runs.retrieve(run_id).background, "it is marked as such")
        again = list(letta.runs.messages.stream(run_id))
        equal(seen([e for e in again if e.message_type not in ENDS]), seen(messages), "all of it again")
        rest = list(letta.runs.messages.stream(run_id, starting_after=2))
        equal(kinds(rest), ["assistant_message", "stop_reason", "usage_statistics"], "the rest of it")
        foreground = streamed(made.id, "say Hi.")[0].run_id
        words = "Run was not created in background mode, so it cannot be retrieved."
        refused(lambda: list(letta.runs.messages.stream(foreground)), 400, words, "another run")


@check("a request that is sent to be done later is a run")
def later() -> None:
    with agent() as made:
        run = letta.agents.messages.create_async(made.id, input="say Later.")
        equal((run.status, run.background, run.agent_id), ("created", True, made.id), "the run")
        done = until("the run ends", lambda: ended(run.id))
        equal((done.status, done.stop_reason), ("completed", "end_turn"), "its end")
        found = kinds(letta.runs.messages.list(run.id).items)
        equal(found, ["user_message", "assistant_message"], "its messages")


def ended(run_id: str):
    run = letta.runs.retrieve(run_id)
    return run if run.status in ("completed", "failed", "cancelled") else None
