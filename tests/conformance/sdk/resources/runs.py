"""Runs and steps: what was done, with what, for how many tokens."""

from __future__ import annotations

import threading
import time

from .functions import count_words
from .testing import UNKNOWN, agent, call, check, equal, get, history, holds, kinds, letta, of_kind
from .testing import refused, say, text_of, tools, until


@check("a run has its messages, steps and usage")
def one() -> None:
    with tools(count_words) as (counts,), agent(tool_ids=[counts.id]) as made:
        answer = say(made.id, call("count_words", text="a b"))
        run = letta.runs.retrieve(answer.messages[0].run_id)
        found = (run.agent_id, run.status, run.stop_reason)
        equal(found, (made.id, "completed", "end_turn"), "the run")
        equal(run.metadata["run_type"], "send_message", "its type")
        holds(run.completed_at is not None and run.total_duration_ns > 0, f"its times: {run}")
        messages = letta.runs.messages.list(run.id).items
        expected = ["user_message"] + kinds(answer.messages)
        equal(kinds(messages), expected, "its messages, the oldest first")
        equal([each.id for each in messages][1:], [each.id for each in answer.messages], "their ids")
        steps = letta.runs.steps.list(run.id).items
        ids = list(dict.fromkeys(each.step_id for each in answer.messages))
        equal([each.id for each in steps], ids[::-1], "its steps, the newest first")
        usage = letta.runs.usage.retrieve(run.id)
        found = (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens)
        expected = (answer.usage.prompt_tokens, answer.usage.completion_tokens)
        equal(found, (*expected, answer.usage.total_tokens), "its usage")
        metrics = get(f"/v1/runs/{run.id}/metrics")
        equal((metrics["num_steps"], metrics["tools_used"]), (2, [counts.id]), "its metrics")
        malformed = "Invalid run ID format: abc. Expected format: 'run-<uuid4>'"
        refused(lambda: letta.runs.retrieve("abc"), 400, malformed, "no id")
        refused(lambda: letta.runs.retrieve(f"run-{UNKNOWN}"), 404, "", "an unknown run")


@check("runs are listed by agent and status, in pages")
def listed() -> None:
    with agent() as made:
        for word in ("One", "Two", "Three"):
            say(made.id, f"say {word}.")
        refused(lambda: say(made.id, "fail authentication"), 401, "", "one that fails")

        def found(**query: object) -> list:
            return [run.id for run in letta.runs.list(agent_id=made.id, **query)]

        ids = found()
        equal(len(ids), 4, "all of them")
        equal(found(limit=2), ids, "through pages, the newest first")
        equal(found(limit=3, order="asc"), ids[::-1], "the oldest first")
        equal(found(statuses=["failed"]), ids[:1], "those that failed")
        equal(found(statuses=["completed"], stop_reason="end_turn"), ids[1:], "those that ended well")
        equal(found(active=True), [], "those that go on")
        words = "'foo' is not a valid RunStatus"
        refused(lambda: found(statuses=["foo"]), 422, words, "an unknown status")


@check("a step has its model, tokens, trace, metrics, messages and feedback")
def step() -> None:
    with tools(count_words) as (counts,), agent(tool_ids=[counts.id]) as made:
        answer = say(made.id, call("count_words", text="a b"))
        first = letta.steps.retrieve(answer.messages[0].step_id)
        equal((first.agent_id, first.run_id), (made.id, answer.messages[0].run_id), "whose it is")
        equal((first.model_handle, first.status), ("bulkhead/scripted", "success"), "its model")
        equal(first.total_tokens, first.prompt_tokens + first.completion_tokens, "its tokens")
        last = letta.steps.retrieve(answer.messages[-1].step_id)
        equal((first.stop_reason, last.stop_reason), (None, "end_turn"), "the stop reason of the last")
        total = first.total_tokens + last.total_tokens
        equal(total, answer.usage.total_tokens, "the tokens of all")
        trace = letta.steps.trace.retrieve(first.id)
        equal((trace.step_id, trace.agent_id), (first.id, made.id), "a trace")
        holds("count_words" in str(trace.response_json), f"the answer in it: {trace.response_json}")
        metrics = letta.steps.metrics.retrieve(first.id)
        holds(metrics.tool_execution_ns > 0 and metrics.step_ns > 0, f"metrics: {metrics}")
        holds("tool_return_message" in kinds(letta.steps.messages.list(first.id).items), "messages")
        rated = letta.steps.feedback.create(first.id, feedback="positive")
        equal(rated.feedback, "positive", "feedback")
        liked = letta.steps.list(agent_id=made.id, feedback="positive").items
        equal([each.id for each in liked], [first.id], "steps with it")
        equal(len(list(letta.steps.list(agent_id=made.id, limit=1))), 2, "steps in pages")
        refused(lambda: letta.steps.retrieve(f"step-{UNKNOWN}"), 404, "", "an unknown step")


def cancel_soon(agent_id: str, answers: list) -> threading.Thread:
    """Cancels the agent's run as soon as there is one."""

    def cancel() -> None:
        until("a run", lambda: letta.runs.list(agent_id=agent_id, active=True).items)
        answers.append(letta.agents.messages.cancel(agent_id))

    thread = threading.Thread(target=cancel)
    thread.start()
    return thread


@check("a stream is cancelled while its model thinks, and leaves nothing")
def cancelled() -> None:
    with agent() as made:
        for tokens in (False, True):
            answers: list = []
            thread = cancel_soon(made.id, answers)
            begun = time.monotonic()
            text = "wait 20s\nsay Late."
            events = list(letta.agents.messages.stream(made.id, input=text, stream_tokens=tokens))
            thread.join()
            holds(time.monotonic() - begun < 10, "it ends at once")
            equal(of_kind(events, "stop_reason")[0].stop_reason, "cancelled", "the stop reason")
            holds("usage_statistics" not in kinds(events), f"no usage: {kinds(events)}")
            run_id = events[0].run_id
            equal(answers, [{run_id: "cancelled"}], "the answer to the cancellation")
            run = until("its end", lambda: done(run_id))
            equal((run.status, run.stop_reason), ("cancelled", "cancelled"), "the run")
            equal(letta.agents.retrieve(made.id).last_stop_reason, "cancelled", "the agent")
        equal(kinds(history(made.id)), ["system_message"], "nothing was stored")
        equal(text_of(say(made.id, "say Fine.").messages[0]), "Fine.", "the next message")


def done(run_id: str):
    run = letta.runs.retrieve(run_id)
    return run if run.status == "cancelled" else None


@check("a whole answer is cancelled between its steps")
def cancelled_between() -> None:
    with tools(count_words) as (counts,), agent(tool_ids=[counts.id]) as made:
        answers: list = []
        thread = cancel_soon(made.id, answers)
        text = "wait 300ms\n" + call("count_words", text="a") + "\nrepeat"
        answer = say(made.id, text, max_steps=20)
        thread.join()
        equal(answer.stop_reason.stop_reason, "cancelled", "the stop reason")
        calls = of_kind(history(made.id), "tool_call_message")
        results = of_kind(history(made.id), "tool_return_message")
        equal(len(calls), len(results), "each stored call has its result")


@check("a step has the receipts of its tools' calls")
def receipts() -> None:
    with tools(count_words) as (counts,), agent(tool_ids=[counts.id]) as made:
        answer = say(made.id, call("count_words", text="a b"))
        called = answer.messages[0]
        found = get(f"/v1/steps/{called.step_id}/receipts")
        equal(len(found), 1, f"the receipts: {found}")
        holds(called.tool_call.tool_call_id in str(found[0]), f"the call's id: {found[0]}")
        equal(get(f"/v1/steps/{answer.messages[-1].step_id}/receipts"), [], "a step without calls")


@check("nothing can be cancelled where nothing runs")
def idle() -> None:
    with agent() as made:
        words = f"No active runs to cancel for agent {made.id}"
        refused(lambda: letta.agents.messages.cancel(made.id), 409, words, "an idle agent")
