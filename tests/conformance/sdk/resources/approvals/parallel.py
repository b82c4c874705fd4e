"""Several calls at once, of which some wait."""

from __future__ import annotations

from ..testing import call, check, equal, history, kinds, letta, only, say
from .shared import SECRET, answer, careful, has_context, mine, no, usable, yes


@check("of several calls each is answered in its own way, in one message of results")
def each_in_its_own_way() -> None:
    with careful() as made:
        cursor = letta.agents.messages.list(made.id, limit=1).items[0].id
        doors = [call("open_door", door=door) for door in ("front", "back", "side")]
        text = "\n".join(["think hm", "say Opening.", *doors, call("count_words", text="x y")])
        asking = say(made.id, text).messages
        expected = ["reasoning_message", "assistant_message", "tool_call_message", "approval_request_message"]
        equal(kinds(asking), expected, "the messages")
        free = asking[-2].tool_calls
        equal([each.name for each in free], ["count_words"], "what does not wait")
        waiting = asking[-1].tool_calls
        equal([each.name for each in waiting], ["open_door"] * 3, "what waits")
        equal(asking[-1].tool_call.tool_call_id, waiting[0].tool_call_id, "the first of them")
        for each, door in zip(waiting, ("front", "back", "side")):
            equal(door in each.arguments, True, f"the arguments for the {door} door")
        has_context(made.id)
        approve, deny, compute = [each.tool_call_id for each in waiting]
        found = answer(made.id, yes(approve), no(deny), mine(compute)).messages
        equal(kinds(found), ["tool_return_message", "assistant_message"], "what comes of it")
        results = {each.tool_call_id: (each.status, each.tool_return) for each in found[0].tool_returns}
        words = f"Error: request to call tool denied. User reason: The secret is {SECRET}."
        expected = {
            approve: ("success", "front is open"),
            deny: ("error", words),
            compute: ("success", SECRET),
            free[0].tool_call_id: ("success", "2"),
        }
        equal(results, expected, "the results")
        order = [each.tool_call_id for each in found[0].tool_returns]
        equal(order, [compute, deny, approve, free[0].tool_call_id], "their order")
        has_context(made.id)
        listed = kinds(letta.agents.messages.list(made.id, after=cursor).items)
        expected = [
            "user_message",
            "reasoning_message",
            "assistant_message",
            "tool_call_message",
            "approval_request_message",
            "approval_response_message",
            "tool_return_message",
            "assistant_message",
        ]
        equal(listed, expected, "the list")
        usable(made.id)


@check("tools of the client wait beside tools of the server, and their output is kept")
def beside_each_other() -> None:
    text = "\n".join([call("open_door", door="a"), call("count_words", text="x y"), call("ask", q=1)])
    client_tools = [{"name": "ask", "description": "Asks.", "parameters": {"type": "object"}}]
    with careful() as made:
        found = say(made.id, text, client_tools=client_tools)
        equal(kinds(found.messages), ["tool_call_message", "approval_request_message"], "the messages")
        request = only(found.messages, "approval_request_message")
        waiting = {each.name: each.tool_call_id for each in request.tool_calls}
        equal(set(waiting), {"open_door", "ask"}, "what waits")
        result = {**mine(waiting["ask"], "the answer"), "stdout": ["printed"]}
        found = answer(made.id, no(waiting["open_door"]), result)
        returned = only(found.messages, "tool_return_message")
        equal(returned.tool_returns[0].tool_return, "the answer", "the client's own result")
        equal(returned.tool_returns[0].stdout, ["printed"], "what the client printed")
        equal(returned.tool_returns[2].tool_return, "2", "the call that needed nobody")
        equal(len(only(history(made.id), "approval_response_message").approvals), 2, "one stored answer")
