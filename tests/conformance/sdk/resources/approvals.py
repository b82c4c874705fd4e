"""Calls that wait for a person, and calls that the client makes itself."""

from __future__ import annotations

from .functions import count_words, open_door
from .testing import agent, call, check, equal, get, history, holds, kinds, letta, of_kind, only
from .testing import refused, say, text_of, tools

ASK = call("open_door", door="front")


def answer(agent_id: str, *approvals: dict, **settings: object):
    """An answer to all waiting calls."""
    message = {"type": "approval", "approvals": list(approvals)}
    return letta.agents.messages.create(agent_id, messages=[message], **settings)


def yes(id: str) -> dict:
    return {"type": "approval", "tool_call_id": id, "approve": True}


def no(id: str, reason: str) -> dict:
    return {"type": "approval", "tool_call_id": id, "approve": False, "reason": reason}


def pending(agent_id: str):
    state = letta.agents.retrieve(agent_id, include=["agent.pending_approval"])
    return state.pending_approval


def asked(agent_id: str, text: str = ASK, **settings: object):
    """Has the agent call, and gives the request for approval."""
    found = say(agent_id, text, **settings)
    equal(found.stop_reason.stop_reason, "requires_approval", "the stop reason")
    return only(found.messages, "approval_request_message")


@check("a call waits, is approved and goes on")
def approved() -> None:
    with tools(open_door, default_requires_approval=True) as (opens,):
        with agent(tool_ids=[opens.id]) as made:
            request = asked(made.id)
            id = request.tool_call.tool_call_id
            equal(request.tool_call.name, "open_door", "the call")
            equal(pending(made.id).id, request.id, "what is pending")
            state = letta.agents.retrieve(made.id)
            equal(state.last_stop_reason, "requires_approval", "the last stop")
            equal(state.pending_approval, None, "a relation that was not asked for")
            run = letta.runs.retrieve(request.run_id)
            equal((run.status, run.stop_reason), ("completed", "requires_approval"), "its run")
            words = "The agent is waiting for approval on a tool call."
            refused(lambda: say(made.id, "Hi."), 409, words, "another message")
            refused(lambda: say(made.id, "Hi."), 409, request.id, "names what it waits for")
            holds("messages" in get(f"/v1/agents/{made.id}/context"), "the context can be read")
            wrong = f"Invalid tool call IDs. Expected '['{id}']', but received '['x']'."
            refused(lambda: answer(made.id, yes("x")), 400, wrong, "another id")
            found = answer(made.id, yes(id))
            equal(kinds(found.messages), ["tool_return_message", "assistant_message"], "the messages")
            returned, said = found.messages
            equal((returned.status, returned.tool_return), ("success", "front is open"), "the result")
            equal(returned.step_id, request.step_id, "the step of the request")
            holds(said.run_id != request.run_id, "another run")
            equal((pending(made.id), found.stop_reason.stop_reason), (None, "end_turn"), "the end")
            stored = kinds(history(made.id))[1:]
            expected = ["user_message", "approval_request_message", "approval_response_message"]
            equal(stored, expected + ["tool_return_message", "assistant_message"], "the list")
            response = only(history(made.id), "approval_response_message")
            equal((response.approve, response.approval_request_id), (True, id), "the stored answer")


@check("a denied call is an error that tells the reason")
def denied() -> None:
    with tools(open_door, default_requires_approval=True) as (opens,):
        with agent(tool_ids=[opens.id]) as made:
            id = asked(made.id).tool_call.tool_call_id
            found = answer(made.id, no(id, "It is late."))
            returned = only(found.messages, "tool_return_message")
            words = "Error: request to call tool denied. User reason: It is late."
            equal((returned.status, returned.tool_return), ("error", words), "the result")
            request = asked(made.id)
            older = {"type": "approval", "approve": False, "approval_request_id": request.id}
            found = letta.agents.messages.create(made.id, messages=[older])
            words = "Error: request to call tool denied. User reason: None"
            returned = only(found.messages, "tool_return_message")
            equal((returned.status, returned.tool_return), ("error", words), "the older form")


@check("nothing can be approved where nothing waits")
def nothing() -> None:
    with agent() as made:
        words = "Cannot process approval response: No tool call is currently awaiting approval."
        refused(lambda: answer(made.id, yes("call_1")), 400, words, "an answer to nothing")


@check("a retried answer is no error")
def retried() -> None:
    with tools(open_door, default_requires_approval=True) as (opens,):
        with agent(tool_ids=[opens.id]) as made:
            id = asked(made.id).tool_call.tool_call_id
            answer(made.id, yes(id))
            found = answer(made.id, yes(id))
            equal(found.stop_reason.stop_reason, "end_turn", "the end")
            alerts = [text_of(each) for each in of_kind(history(made.id), "user_message")]
            holds(any("keep-alive ping" in text for text in alerts), f"the alert: {alerts}")


@check("of several calls each is answered, in one message of results")
def several() -> None:
    text = "\n".join([call("open_door", door="a"), call("count_words", text="x y"), call("ask", q=1)])
    client_tools = [{"name": "ask", "description": "Asks.", "parameters": {"type": "object"}}]
    with tools(open_door, default_requires_approval=True) as (opens,), tools(count_words) as (counts,):
        with agent(tool_ids=[opens.id, counts.id], parallel_tool_calls=True) as made:
            found = say(made.id, text, client_tools=client_tools)
            equal(kinds(found.messages), ["tool_call_message", "approval_request_message"], "the messages")
            request = only(found.messages, "approval_request_message")
            waiting = {each.name: each.tool_call_id for each in request.tool_calls}
            equal(set(waiting), {"open_door", "ask"}, "what waits")
            ran = only(found.messages, "tool_call_message").tool_call
            equal(ran.name, "count_words", "what does not wait")
            client = {
                "type": "tool",
                "tool_call_id": waiting["ask"],
                "tool_return": "the answer",
                "status": "success",
                "stdout": ["printed"],
            }
            found = answer(made.id, no(waiting["open_door"], "no"), client)
            returned = only(found.messages, "tool_return_message")
            results = [(each.tool_call_id, each.status) for each in returned.tool_returns]
            expected = [(waiting["ask"], "success"), (waiting["open_door"], "error")]
            equal(results, expected + [(ran.tool_call_id, "success")], "the results in their order")
            equal(returned.tool_returns[0].tool_return, "the answer", "the client's own result")
            equal(returned.tool_returns[0].stdout, ["printed"], "what the client printed")
            equal(returned.tool_returns[2].tool_return, "2", "the call that needed nobody")


@check("a tool of the client stops the run, and its result goes on")
def of_client() -> None:
    parameters = {"type": "object", "properties": {"path": {"type": "string"}}}
    client_tools = [{"name": "read_file", "description": "Reads.", "parameters": parameters}]
    with agent() as made:
        request = asked(made.id, call("read_file", path="a.txt"), client_tools=client_tools)
        equal(request.tool_call.arguments.replace(" ", ""), '{"path":"a.txt"}', "the arguments")
        id = request.tool_call.tool_call_id
        result = {"type": "tool", "tool_call_id": id, "tool_return": "text", "status": "success"}
        message = {"type": "tool_return", "tool_returns": [result]}
        stream = letta.agents.messages.stream(made.id, messages=[message], stream_tokens=True)
        events = list(stream)
        returned = only(events, "tool_return_message")
        equal((returned.tool_return, returned.status), ("text", "success"), "the result")
        equal(events[-2].stop_reason, "end_turn", "the end")
        equal(pending(made.id), None, "nothing waits")


@check("a mistaken answer to a stream is an event with the same words")
def mistaken_stream() -> None:
    with tools(open_door, default_requires_approval=True) as (opens,):
        with agent(tool_ids=[opens.id]) as made:
            asked(made.id)
            events = []
            try:
                for event in letta.agents.messages.stream(made.id, input="Hi."):
                    events.append(event)
            except Exception as error:
                words = "The agent is waiting for approval on a tool call."
                holds(words in str(error), f"the error: {error}")
                equal(events[-1].stop_reason, "error", "the stop reason")
            else:
                holds(False, f"the stream has an error: {kinds(events)}")


@check("an open request is closed when the run is cancelled")
def cancelled() -> None:
    with tools(open_door, default_requires_approval=True) as (opens,):
        with agent(tool_ids=[opens.id]) as made:
            request = asked(made.id)
            statuses = letta.agents.messages.cancel(made.id, run_ids=[request.run_id])
            holds(statuses, f"an answer: {statuses}")
            equal(pending(made.id), None, "nothing waits")
            returned = only(history(made.id), "tool_return_message")
            words = "User reason: The user cancelled the request, so the tool call was denied."
            holds(returned.status == "error" and words in returned.tool_return, returned.tool_return)
            equal(text_of(say(made.id, "say Fine.").messages[0]), "Fine.", "the next message")
