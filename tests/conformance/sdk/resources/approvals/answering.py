"""Answers to a request: each of approval, denial and the client's own result, in each way."""

from __future__ import annotations

from ..testing import check, equal, history, holds, kinds, letta, of_kind, only, say, text_of
from .shared import ASK, SECRET, WAYS, answer, answer_streamed, asked, careful, ends_well
from .shared import first_of_each, has_context, messages, mine, no, pending, usable, yes


@check("an approved call's stream begins with its result")
def approved() -> None:
    with careful() as made:
        request = asked(made.id)
        id = request.tool_call.tool_call_id
        events = answer_streamed(made.id, yes(id), stream_tokens=True, include_pings=False)
        returned = events[0]
        equal((returned.message_type, returned.tool_call_id), ("tool_return_message", id), "the first event")
        equal((returned.status, returned.tool_return), ("success", "front is open"), "the result")
        equal(returned.step_id, request.step_id, "the step of the request")
        holds(returned.run_id != request.run_id, "another run")
        ends_well(events)
        stored = kinds(history(made.id))[1:]
        expected = ["user_message", "approval_request_message", "approval_response_message"]
        equal(stored, expected + ["tool_return_message", "assistant_message"], "the list")


@check("the reason of a denial reaches the model")
def denied() -> None:
    with careful() as made:
        events = answer_streamed(made.id, no(asked(made.id).tool_call.tool_call_id))
        holds(SECRET in text_of(only(events, "assistant_message")), "what the model says")
        returned = only(events, "tool_return_message")
        words = f"Error: request to call tool denied. User reason: The secret is {SECRET}."
        equal((returned.status, returned.tool_return), ("error", words), "the result")
        ends_well(events)
        request = asked(made.id)
        older = {"type": "approval", "approve": False, "approval_request_id": request.id}
        found = letta.agents.messages.create(made.id, messages=[older])
        words = "Error: request to call tool denied. User reason: None"
        returned = only(found.messages, "tool_return_message")
        equal((returned.status, returned.tool_return), ("error", words), "the older form")


@check("a result of the client reaches the model")
def computed() -> None:
    with careful() as made:
        events = answer_streamed(made.id, mine(asked(made.id).tool_call.tool_call_id))
        holds(SECRET in text_of(only(events, "assistant_message")), "what the model says")
        ends_well(events)


@check("the context can be read after every answer")
def context() -> None:
    for what, way in WAYS.items():
        with careful() as made:
            has_context(made.id)
            # A model may have nothing to say to it.
            text = f"{ASK}\nthen\nempty"
            events = answer_streamed(made.id, way(asked(made.id, text).tool_call.tool_call_id), stream_tokens=True)
            holds("tool_return_message" in kinds(events), f"{what}: {kinds(events)}")
            has_context(made.id)


@check("the next message is taken after every answer")
def follow_up() -> None:
    for way in WAYS.values():
        with careful() as made:
            answer(made.id, way(asked(made.id).tool_call.tool_call_id))
            equal(pending(made.id), None, "nothing waits")
            usable(made.id)


@check("a message of the user rides along with every answer")
def user_message() -> None:
    for what, way in WAYS.items():
        with careful() as made:
            id = asked(made.id).tool_call.tool_call_id
            more = {"type": "message", "role": "user", "content": "say No special characters."}
            found = letta.agents.messages.create(made.id, messages=messages(way(id)) + [more])
            expected = ["tool_return_message", "assistant_message"]
            equal(kinds(found.messages), expected, f"what comes of it, {what}")
            equal(text_of(found.messages[1]), "No special characters.", "what the model says to it")
            stored = kinds(history(made.id))[-3:]
            equal(stored, ["tool_return_message", "user_message", "assistant_message"], "the list")
            usable(made.id)


@check("an answer in a stream of messages and one in pieces tell the same")
def alike() -> None:
    for way in WAYS.values():
        with careful() as made:
            seen = []
            for tokens in (False, True):
                text = f"{ASK}\nthen\nthink hm\nsay Well then."
                id = asked(made.id, text).tool_call.tool_call_id
                events = answer_streamed(made.id, way(id), stream_tokens=tokens)
                said = "".join(text_of(each) for each in of_kind(events, "assistant_message"))
                returned = only(events, "tool_return_message")
                seen.append((first_of_each(events), returned.tool_return, said))
            equal(seen[0], seen[1], "what is told")
            equal(text_of(say(made.id, "say Fine.").messages[0]), "Fine.", "the next message")
