"""Streams: whole messages and pieces of them."""

from __future__ import annotations

import asyncio
import json
import os

from letta_client import AsyncLetta

from .events import ENDS, Pieces, seen, stored, streamed, well_formed
from .functions import count_words, open_door
from .testing import agent, bare, call, check, equal, holds, kinds, letta, of_kind, refused, say, tools
from .testing import until

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


@check("calls that wait and calls that don't are told apart by ids of their own")
def mixed() -> None:
    text = call("count_words", text="a b") + "\n" + call("open_door", door="front")
    with tools(open_door, default_requires_approval=True) as (opens,), tools(count_words) as (counts,):
        ids = [opens.id, counts.id]
        for tokens in (False, True):
            with agent(tool_ids=ids, parallel_tool_calls=True) as made:
                events = streamed(made.id, "say Both.\n" + text, stream_tokens=tokens)
                messages = well_formed(events)
                found = seen(messages) if not tokens else assembled(messages)
                expected = ["assistant_message", "tool_call_message", "approval_request_message"]
                equal([each[0] for each in found], expected, "the messages")
                equal([each[-1][0][1] for each in found[1:]], ["count_words", "open_door"], "the calls")
                equal(found, stored(made.id, events[0].run_id), "what is listed")


def assembled(messages: list) -> list:
    """Messages put together from pieces."""
    pieces = Pieces()
    for message in messages:
        pieces.add(message)
    return pieces.seen()


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


@check("the asynchronous client streams and lists as well")
def without_waiting() -> None:
    async def talk(agent_id: str) -> None:
        url = os.environ["BULKHEAD_URL"]
        async with AsyncLetta(base_url=url, api_key="unused", max_retries=0) as client:
            stream = await client.agents.messages.stream(agent_id, input="say Hi.", stream_tokens=True)
            pieces = Pieces()
            for message in well_formed([event async for event in stream]):
                pieces.add(message)
            equal([each[-1] for each in pieces.seen()], ["Hi."], "the stream")
            listed = [each async for each in client.agents.messages.list(agent_id, order="asc", limit=1)]
            equal(kinds(listed), ["system_message", "user_message", "assistant_message"], "the list")

    with agent() as made:
        asyncio.run(talk(made.id))


@check("clients of OpenAI's chat completions talk with an agent as with a model")
def chat_completions() -> None:
    with agent() as made:
        messages = [{"role": "user", "content": "say Hello there."}]
        body = {"model": made.id, "messages": messages, "stream": True}
        status, headers, text = bare("/v1/chat/completions", body)
        equal(status, 200, f"the status: {text}")
        events = text.split("\n\n")
        equal(events[-2:], ["data: [DONE]", ""], "the end")
        chunks = [json.loads(event[len("data: ") :]) for event in events[:-2]]
        deltas = [chunk["choices"][0]["delta"] for chunk in chunks]
        equal("".join(delta.get("content") or "" for delta in deltas), "Hello there.", "the text")
        equal([delta.get("role") for delta in deltas if "role" in delta], ["assistant"], "the role, once")
        equal(chunks[-1]["choices"][0]["finish_reason"], "stop", "the reason")
        ids = {chunk["id"] for chunk in chunks}
        run = letta.runs.retrieve(ids.pop()[len("chatcmpl-") :])
        equal(run.metadata["run_type"], "openai_chat_completions", "its run")
        status, _, text = bare("/v1/chat/completions", {**body, "model": "gpt-4"})
        words = "For this endpoint, the 'model' field should contain an agent ID"
        holds(status == 400 and words in text, f"a model that is no agent: {text}")
