"""What a failing model looks like from outside, and that nothing half done stays."""

from __future__ import annotations

from letta_client import APIError

from .testing import MODEL, agent, bare, check, equal, history, holds, kinds, letta, refused, say
from .testing import text_of

# Of an offline failure: status, type, stop reason and beginning of the detail.
FAILURES = {
    "rate_limit": (429, "llm_rate_limit", "RATE_LIMIT_EXCEEDED: "),
    "authentication": (401, "llm_authentication", "UNAUTHENTICATED: "),
    "timeout": (504, "llm_timeout", "TIMEOUT: "),
    "credits": (402, "llm_insufficient_credits", "PAYMENT_REQUIRED: "),
    "bad_request": (400, "llm_bad_request", "INVALID_ARGUMENT: "),
    "server": (500, "llm_error", "INTERNAL_SERVER_ERROR: "),
}


def newest_run(agent_id: str):
    return letta.runs.list(agent_id=agent_id, limit=1).items[0]


@check("a provider's failure is an error with status, type and detail")
def whole() -> None:
    with agent() as made:
        for kind, (status, error_type, detail) in FAILURES.items():
            path = f"/v1/agents/{made.id}/messages"
            found, _, text = bare(path, {"input": f"fail {kind}"})
            equal(found, status, f"the status of {kind}: {text}")
            holds(f'"type":"{error_type}"' in text.replace(": ", ":"), f"the type of {kind}: {text}")
            holds(detail in text, f"the detail of {kind}: {text}")
            equal(newest_run(made.id).status, "failed", f"the run of {kind}")
        refused(lambda: say(made.id, "fail rate_limit"), 429, "llm_rate_limit", "in the client")
        equal(kinds(history(made.id)), ["system_message"], "nothing was stored")
        equal(text_of(say(made.id, "say Fine.").messages[0]), "Fine.", "the next message")


def failing(agent_id: str, text: str, **settings: object):
    """The events of a stream that ends with an error, and the error."""
    events = []
    try:
        for event in letta.agents.messages.stream(agent_id, input=text, **settings):
            events.append(event)
    except APIError as error:
        return events, error
    holds(False, f"the stream has no error but {kinds(events)}")


@check("a failure before the first piece is an event of its own type")
def before() -> None:
    expected = {
        "rate_limit": ("llm_rate_limit", "llm_api_error"),
        "timeout": ("llm_timeout", "llm_api_error"),
        "empty": ("llm_empty_response", "invalid_llm_response"),
        "bad_request": ("llm_error", "llm_api_error"),
    }
    with agent() as made:
        for kind, (error_type, stop) in expected.items():
            for tokens in (False, True):
                events, error = failing(made.id, f"fail {kind}", stream_tokens=tokens)
                equal(kinds(events), ["ping", "stop_reason"], f"the events of {kind}")
                equal(events[-1].stop_reason, stop, f"the stop reason of {kind}")
                holds(error_type in str(error), f"the error of {kind}: {error}")
                run = letta.runs.retrieve(events[0].run_id)
                equal((run.status, run.stop_reason), ("failed", stop), f"the run of {kind}")
                kept = run.metadata["error"]
                equal((kept["error_type"], kept["run_id"]), (error_type, run.id), "what it keeps")
        equal(kinds(history(made.id)), ["system_message"], "nothing was stored")


@check("a failure after pieces ends the stream without usage")
def after() -> None:
    with agent() as made:
        text = "say One two three four five six seven.\nfail server after 2 pieces"
        events, error = failing(made.id, text, stream_tokens=True)
        holds("assistant_message" in kinds(events), f"pieces: {kinds(events)}")
        equal(events[-1].message_type, "stop_reason", "the last event")
        holds("usage_statistics" not in kinds(events), "no usage")
        holds("An error occurred during agent execution." in str(error), f"the error: {error}")
        _, _, raw = bare(
            f"/v1/agents/{made.id}/messages/stream", {"input": text, "stream_tokens": True}
        )
        holds("event: error\ndata: {" in raw and "[DONE]" not in raw, f"the frame: {raw[-300:]}")
        equal(text_of(say(made.id, "say Fine.").messages[0]), "Fine.", "the next message")


@check("an answer that is cut off, and one without content")
def unusable() -> None:
    with agent() as made:
        answer = say(made.id, "say It is\nstop length")
        equal(answer.stop_reason.stop_reason, "max_tokens_exceeded", "no more tokens")
        equal(newest_run(made.id).status, "failed", "its run")
        answer = say(made.id, "empty")
        equal((answer.messages, answer.stop_reason.stop_reason), ([], "end_turn"), "nothing at all")


@check("a request that never fits is refused for its length")
def too_long() -> None:
    with agent() as made:
        words = "CONTEXT_WINDOW_EXCEEDED"
        refused(lambda: say(made.id, "fail context_window"), 400, words, "the window")
        equal(text_of(say(made.id, "say Fine.").messages[0]), "Fine.", "the next message")
        equal(letta.agents.retrieve(made.id).model, MODEL, "the agent")
