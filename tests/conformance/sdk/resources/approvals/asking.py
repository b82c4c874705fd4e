"""Requests for approval: when calls wait, and what is seen of them meanwhile."""

from __future__ import annotations

import json

from ..testing import agent, call, check, equal, holds, kinds, letta, of_kind, only, say
from .shared import ASK, answer, answer_streamed, asked, careful, first_of_each, has_context, mine
from .shared import pending, yes


@check("a call waits, the agent says for which, and nothing waits after the answer")
def waits() -> None:
    with careful() as made:
        request = asked(made.id)
        id = request.tool_call.tool_call_id
        equal(request.tool_call.name, "open_door", "the call")
        equal([each.name for each in request.tool_calls], ["open_door"], "the calls")
        holds("request_heartbeat" not in json.loads(request.tool_call.arguments), "its arguments")
        has_context(made.id)
        open = pending(made.id)
        # Clients of this release read it as a plain object.
        found = open if isinstance(open, dict) else open.model_dump()
        equal((found["id"], found["tool_call"]["name"]), (request.id, "open_door"), "what is pending")
        equal([each["tool_call_id"] for each in found["tool_calls"]], [id], "its calls")
        equal(letta.agents.retrieve(made.id).pending_approval, None, "a relation that was not asked for")
        run = letta.runs.retrieve(request.run_id)
        equal((run.status, run.stop_reason), ("completed", "requires_approval"), "its run")
        answer(made.id, yes(id))
        equal(pending(made.id), None, "nothing waits")


@check("a request ends its stream, before the stop reason and the usage")
def streamed() -> None:
    with careful() as made:
        for tokens in (False, True):
            events = list(letta.agents.messages.stream(made.id, input=ASK, stream_tokens=tokens))
            expected = ["ping", "approval_request_message", "stop_reason", "usage_statistics"]
            equal(first_of_each(events), expected, "the events")
            call_of = of_kind(events, "approval_request_message")[0].tool_call
            equal(call_of.name, "open_door", "the name in the first piece")
            has_context(made.id)
            answer(made.id, yes(call_of.tool_call_id))


@check("approval is switched off and on while the agent lives")
def switched() -> None:
    with careful() as made:
        switch = letta.agents.tools.update_approval
        events = answer_streamed(made.id, yes(asked(made.id).tool_call.tool_call_id), stream_tokens=True)
        equal(events[-2].stop_reason, "end_turn", "the first is approved")
        switch("open_door", agent_id=made.id, body_requires_approval=False)
        text = f"think hm\nsay Opening.\n{ASK}\nthen\nthink ha\nsay Open."
        events = list(letta.agents.messages.stream(made.id, input=text, stream_tokens=True))
        expected = [
            "ping",
            "reasoning_message",
            "assistant_message",
            "tool_call_message",
            "tool_return_message",
            "reasoning_message",
            "assistant_message",
            "stop_reason",
            "usage_statistics",
        ]
        equal(first_of_each(events), expected, "the next just runs")
        switch("open_door", agent_id=made.id, body_requires_approval=True)
        asked(made.id)


@check("the agent's last stop reason follows a request and its answer")
def last_stop_reason() -> None:
    with careful() as made:
        first = letta.agents.retrieve(made.id).last_stop_reason
        request = asked(made.id)
        equal(letta.agents.retrieve(made.id).last_stop_reason, "requires_approval", "while it waits")
        answer(made.id, yes(request.tool_call.tool_call_id))
        after = letta.agents.retrieve(made.id).last_stop_reason
        holds(after == "end_turn" and after != first, f"after the answer: {after}, at first: {first}")
        say(made.id, "Thank you.")
        equal(letta.agents.retrieve(made.id).last_stop_reason, "end_turn", "after the next message")


@check("a tool of the client stops the run, and its result goes on")
def of_client() -> None:
    parameters = {"type": "object", "properties": {"path": {"type": "string"}}}
    client_tools = [{"name": "read_file", "description": "Reads.", "parameters": parameters}]
    with agent() as made:
        request = asked(made.id, call("read_file", path="a.txt"), client_tools=client_tools)
        equal(request.tool_call.arguments.replace(" ", ""), '{"path":"a.txt"}', "the arguments")
        message = {"type": "tool_return", "tool_returns": [mine(request.tool_call.tool_call_id, "text")]}
        events = list(letta.agents.messages.stream(made.id, messages=[message], stream_tokens=True))
        returned = only(events, "tool_return_message")
        equal((returned.tool_return, returned.status), ("text", "success"), "the result")
        equal(events[-2].stop_reason, "end_turn", "the end")
        equal((pending(made.id), kinds(events)[-1]), (None, "usage_statistics"), "nothing waits")
