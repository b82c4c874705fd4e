"""Requests that are cancelled, and answers that are cancelled while they are carried out."""

from __future__ import annotations

import threading
import time

from ..testing import check, equal, history, holds, kinds, letta, of_kind, only, until
from .shared import ASK, answer_streamed, asked, careful, has_context, pending, usable, yes


@check("an open request is closed when its run is cancelled")
def waiting() -> None:
    with careful() as made:
        request = asked(made.id, f"{ASK}\n{ASK}")
        statuses = letta.agents.messages.cancel(made.id, run_ids=[request.run_id])
        equal(statuses, {request.run_id: "cancelled"}, "the answer to the cancellation")
        equal(pending(made.id), None, "nothing waits")
        returned = only(history(made.id), "tool_return_message")
        words = "User reason: The user cancelled the request, so the tool call was denied."
        for each in returned.tool_returns:
            holds(each.status == "error" and words in each.tool_return, each.tool_return)
        equal(len(returned.tool_returns), 2, "a denial for each call")
        equal(letta.runs.retrieve(request.run_id).status, "cancelled", "its run")
        equal(letta.agents.retrieve(made.id).last_stop_reason, "cancelled", "the agent")
        has_context(made.id)
        usable(made.id)


@check("an answer whose stream is cancelled ends with one stop reason")
def answering() -> None:
    for tokens in (False, True):
        with careful() as made:
            id = asked(made.id, f"{ASK}\nthen\nwait 20s\nsay Late.").tool_call.tool_call_id
            cancelling = threading.Thread(target=cancel_the_next, args=(made.id,), daemon=True)
            cancelling.start()
            begun = time.monotonic()
            events = answer_streamed(made.id, yes(id), stream_tokens=tokens)
            cancelling.join(timeout=10)
            holds(time.monotonic() - begun < 10, "it ends at once")
            reasons = [each.stop_reason for each in of_kind(events, "stop_reason")]
            equal(reasons, ["cancelled"], f"the stop reasons of {kinds(events)}")
            newest = letta.runs.list(agent_ids=[made.id]).items[0]
            equal((newest.id, newest.status), (events[0].run_id, "cancelled"), "the newest run")
            equal(pending(made.id), None, "nothing waits")
            has_context(made.id)
            usable(made.id)


def cancel_the_next(agent_id: str) -> None:
    """Cancels the agent's run as soon as there is one that has begun to work."""
    until("a run", lambda: letta.runs.list(agent_id=agent_id, active=True).items)
    time.sleep(0.3)
    letta.agents.messages.cancel(agent_id)
