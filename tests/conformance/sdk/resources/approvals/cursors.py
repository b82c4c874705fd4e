"""Lists from a cursor on: request, answer and result are found in their order."""

from __future__ import annotations

import json

from ..testing import check, equal, holds, kinds, letta, say
from .shared import ASK, SECRET, answer, careful, mine, no, yes


def after(agent_id: str, cursor: str) -> list:
    return letta.agents.messages.list(agent_id, after=cursor).items


def found(way) -> tuple:
    """A request and an answer, each fetched from a cursor on: the waiting call's id, the stored
    answer, and the message after it."""
    with careful() as made:
        cursor = letta.agents.messages.list(made.id, limit=1).items[0].id
        response = say(made.id, ASK)
        id = response.messages[-1].tool_call.tool_call_id
        listed = after(made.id, cursor)
        equal(kinds(listed), ["user_message", "approval_request_message"], "after what was there before")
        request = listed[-1]
        equal((request.id, request.tool_call.tool_call_id), (response.messages[-1].id, id), "the request")
        holds("request_heartbeat" not in json.loads(request.tool_call.arguments), "its arguments")
        answer(made.id, way(id))
        listed = after(made.id, response.messages[0].id)
        expected = ["approval_response_message", "tool_return_message", "assistant_message"]
        equal(kinds(listed), expected, "after the request")
        equal(kinds(after(made.id, listed[0].id)), expected[1:], "after the answer")
        equal(kinds(after(made.id, listed[1].id)), expected[2:], "after the result")
        return id, listed[0], listed[1]


@check("an approval and its result are found after the request")
def approved() -> None:
    id, response, returned = found(yes)
    equal((response.approval_request_id, response.approve), (id, True), "the answer")
    decision = response.approvals[0]
    equal((decision.tool_call_id, decision.approve), (id, True), "its decision")
    equal((returned.tool_call_id, returned.status), (id, "success"), "the result")


@check("a denial, its reason and its result are found after the request")
def denied() -> None:
    id, response, returned = found(no)
    decision = response.approvals[0]
    expected = (id, False, f"The secret is {SECRET}.")
    equal((decision.tool_call_id, decision.approve, decision.reason), expected, "its decision")
    equal((returned.tool_call_id, returned.status), (id, "error"), "the result")


@check("a result of the client is found after the request, as it was sent")
def computed() -> None:
    id, response, returned = found(mine)
    decision = response.approvals[0]
    kept = (decision.type, decision.tool_call_id, decision.tool_return, decision.status)
    equal(kept, ("tool", id, SECRET, "success"), "its decision")
    result = (returned.tool_call_id, returned.tool_return, returned.status)
    equal(result, (id, SECRET, "success"), "the result")
