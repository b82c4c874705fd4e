"""A model that fails after an answer: the error is told, and the agent stays usable."""

from __future__ import annotations

from letta_client import APIError

from ..testing import check, equal, history, holds, kinds, letta
from .shared import ASK, WAYS, asked, careful, has_context, messages, pending, usable


@check("a model that fails after an answer leaves a usable agent")
def fails() -> None:
    for what, way in WAYS.items():
        with careful() as made:
            id = asked(made.id, f"{ASK}\nthen\nfail server").tool_call.tool_call_id
            events = []
            try:
                for event in letta.agents.messages.stream(made.id, messages=messages(way(id)), stream_tokens=True):
                    events.append(event)
            except APIError as error:
                holds("The server failed, as the script says." in str(error), f"the error: {error}")
            else:
                holds(False, f"the stream has an error, {what}: {kinds(events)}")
            equal(kinds(events), ["ping", "tool_return_message", "stop_reason"], f"the events, {what}")
            equal(events[-1].stop_reason, "llm_api_error", "the stop reason")
            run = letta.runs.retrieve(events[0].run_id)
            equal((run.status, run.stop_reason), ("failed", "llm_api_error"), "its run")
            # The answer counts: nothing waits, and nothing that was called is without its result.
            equal(pending(made.id), None, "nothing waits")
            stored = kinds(history(made.id))[-2:]
            equal(stored, ["approval_response_message", "tool_return_message"], "what is stored")
            has_context(made.id)
            usable(made.id)
