"""Answers that fit no request, and messages that come before the answer."""

from __future__ import annotations

from ..testing import UNKNOWN, agent, check, equal, history, holds, kinds, letta, of_kind, refused, say
from ..testing import text_of
from .shared import answer, asked, careful, pending, usable, yes


@check("nothing can be approved where nothing waits")
def nothing() -> None:
    with agent() as made:
        words = "No tool call is currently awaiting approval"
        refused(lambda: answer(made.id, yes(UNKNOWN)), 400, words, "an answer to nothing")
        equal(kinds(history(made.id)), ["system_message"], "nothing was stored")


@check("another message is refused while a request is open, which stays open")
def message() -> None:
    with careful() as made:
        request = asked(made.id)
        words = "Please approve or deny the pending request before continuing"
        refused(lambda: say(made.id, "hi"), 409, words, "another message")
        refused(lambda: say(made.id, "hi"), 409, request.id, "names what it waits for")
        equal(kinds(history(made.id))[1:], ["user_message", "approval_request_message"], "the list")
        answer(made.id, yes(request.tool_call.tool_call_id))
        usable(made.id)


@check("an answer to other calls is refused, and the request stays open")
def other_calls() -> None:
    with careful() as made:
        request = asked(made.id)
        id = request.tool_call.tool_call_id
        wrong = f"Invalid tool call IDs. Expected '['{id}']', but received '['{UNKNOWN}']'."
        refused(lambda: answer(made.id, yes(UNKNOWN)), 400, wrong, "another call")
        equal(kinds(history(made.id))[1:], ["user_message", "approval_request_message"], "the list")
        holds(pending(made.id), "the request is still open")
        answer(made.id, yes(id))
        usable(made.id)


@check("an answer of an unknown type is refused")
def unknown_type() -> None:
    with careful() as made:
        id = asked(made.id).tool_call.tool_call_id
        wrong = {"type": "wave", "tool_call_id": id}
        refused(lambda: answer(made.id, wrong), 422, "union_tag_invalid", "an unknown type")
        answer(made.id, yes(id))


@check("a retried answer is no error and runs nothing again")
def retried() -> None:
    with careful() as made:
        id = asked(made.id).tool_call.tool_call_id
        answer(made.id, yes(id))
        found = answer(made.id, yes(id))
        equal(found.stop_reason.stop_reason, "end_turn", "the end")
        alerts = [text_of(each) for each in of_kind(history(made.id), "user_message")]
        holds(any("keep-alive ping" in text for text in alerts), f"the alert: {alerts}")
        equal(len(of_kind(history(made.id), "tool_return_message")), 1, "the results")


@check("a mistaken message to a stream is an event with the same words")
def streamed() -> None:
    with careful() as made:
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
