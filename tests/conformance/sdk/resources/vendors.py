"""Agents with models of each vendor's wire format, against providers that answer as tests expect."""

from __future__ import annotations

from .events import ENDS, Pieces, seen, stored, streamed, well_formed
from .failures import failing
from .testing import agent, check, equal, holds, kinds, letta, refused, say, text_of, tools

# What each model thinks before it calls; nothing, where its vendor tells nothing of it.
MODELS = {
    "openai/gpt-4o-mini": None,
    "openai/gpt-5-mini": "I must look at both.",
    "anthropic/claude-sonnet-4-5-20250929": "I must look at both.",
    "google_ai/gemini-2.5-flash": "I must look at both.",
}
# Tokens of one answer: of the prompt, of the answer, from the cache, written to it, of reasoning.
USAGE = {
    "openai/gpt-4o-mini": (100, 20, 40, 0, 5),
    "openai/gpt-5-mini": (100, 20, 40, 0, 5),
    "anthropic/claude-sonnet-4-5-20250929": (110, 20, 40, 10, 0),
    "google_ai/gemini-2.5-flash": (100, 20, 40, 0, 5),
}
ASK = "Look up Paris and Rome."
BLOCKS = [{"label": "human", "value": "Name: Ada"}]


def look_up(place: str) -> str:
    """
    Look up the weather.

    Args:
        place (str): Where.
    """
    return {"Paris": "sun", "Rome": "rain"}[place]


def whole(agent_id: str):
    answer = say(agent_id, ASK)
    return seen(answer.messages), answer.usage, answer.stop_reason.stop_reason


def by_step(agent_id: str):
    events = streamed(agent_id, ASK)
    return seen(well_formed(events)), events[-1], events[-2].stop_reason


def by_token(agent_id: str):
    events = streamed(agent_id, ASK, stream_tokens=True)
    pieces = Pieces()
    for message in well_formed(events):
        pieces.add(message)
    count = len([event for event in events if event.message_type not in ENDS])
    holds(count > len(pieces.seen()), f"pieces: {kinds(events)}")
    return pieces.seen(), events[-1], events[-2].stop_reason


def talk(model: str, thought, ask) -> None:
    """Two messages; in the first, two calls at once."""
    with tools(look_up) as (looks,):
        settings = {"memory_blocks": BLOCKS, "parallel_tool_calls": True}
        with agent(model=model, tool_ids=[looks.id], **settings) as made:
            messages, usage, stop = ask(made.id)
            thoughts = [thought] if thought else []
            expected = [("reasoning_message", each) for each in thoughts]
            expected += [("assistant_message", "Looking."), "tool_call_message", "tool_return_message"]
            expected += [("reasoning_message", "Now I know.") for _ in thoughts]
            expected += [("assistant_message", "Paris: sun; Rome: rain.")]
            shape = [each if isinstance(each, str) else each[0] for each in expected]
            equal([each[0] for each in messages], shape, "the messages")
            for found, wanted in zip(messages, expected):
                if isinstance(wanted, tuple):
                    equal(found[-1], wanted[1], f"the text of {found[0]}")
            calls = next(each[-1] for each in messages if each[0] == "tool_call_message")
            found = [(name, arguments.replace(" ", "")) for _, name, arguments in calls]
            wanted = [("look_up", '{"place":"Paris"}'), ("look_up", '{"place":"Rome"}')]
            equal(found, wanted, "the calls")
            results = next(each[-1] for each in messages if each[0] == "tool_return_message")
            ids = [id for id, _, _ in calls]
            wanted = [(ids[0], "success", "sun"), (ids[1], "success", "rain")]
            equal(results, wanted, "the results")
            equal(messages, stored(made.id, messages[0][4]), "what is listed")
            equal(stop, "end_turn", "the stop reason")
            prompt, completion, cached, written, reasoned = USAGE[model]
            found = (usage.step_count, usage.prompt_tokens, usage.completion_tokens)
            equal(found, (2, 2 * prompt, 2 * completion), "the tokens")
            equal(usage.total_tokens, 2 * (prompt + completion), "all tokens")
            found = [usage.cached_input_tokens, usage.cache_write_tokens, usage.reasoning_tokens]
            wanted = [2 * cached, 2 * written, 2 * reasoned]
            equal([each or 0 for each in found], wanted, "tokens of the cache and of reasoning")
            answer = say(made.id, "Thank you.")
            equal(text_of(answer.messages[-1]), "You are welcome.", "the second answer")
            step = letta.steps.retrieve(answer.messages[-1].step_id)
            equal((step.model_handle, step.prompt_tokens), (model, prompt), "its step")
            sent = letta.steps.trace.retrieve(step.id).request_json
            holds("Name: Ada" in str(sent), "the request in the trace")


def turned_away(model: str) -> None:
    """The provider does not know the key."""
    with agent(model=model) as made:
        refused(lambda: say(made.id, "Refuse me."), 401, "llm_authentication", "as a whole")
        _, error = failing(made.id, "Refuse me.", stream_tokens=True)
        holds("llm_authentication" in str(error), f"the error: {error}")
        holds("not a key" in str(error), f"the provider's own words: {error}")
        equal(text_of(say(made.id, "Thank you.").messages[-1]), "You are welcome.", "the next message")


for model, thought in MODELS.items():
    for way in (whole, by_step, by_token):
        what = f"{model}: a talk with two calls at once, {way.__name__.replace('_', ' ')}"

        def talks(model=model, thought=thought, way=way) -> None:
            talk(model, thought, way)

        check(what)(talks)

    def turns_away(model=model) -> None:
        turned_away(model)

    check(f"{model}: a key that the provider does not know")(turns_away)


@check("models of all providers are listed with their windows")
def listed() -> None:
    found = {each.handle: each for each in letta.models.list()}
    for model in MODELS:
        holds(model in found, f"{model} in {list(found)}")
        holds(found[model].max_context_window > 8_000, f"the window of {model}")


@check("a talk goes on with a model of another vendor")
def moved() -> None:
    # Of Google's, one that wants proof even of calls that it did not make.
    models = [*list(MODELS)[:-1], "google_ai/gemini-3-pro-preview"]
    with tools(look_up) as (looks,):
        for first, second in zip(models, models[1:] + models[:1]):
            settings = {"tool_ids": [looks.id], "parallel_tool_calls": True}
            with agent(model=first, **settings) as made:
                say(made.id, ASK)
                equal(letta.agents.update(made.id, model=second).model, second, "the model")
                answer = say(made.id, "Many thanks.")
                equal(text_of(answer.messages[-1]), "You are welcome.", f"{first}, then {second}")
                step = letta.steps.retrieve(answer.messages[-1].step_id)
                equal(step.model_handle, second, "its step")
                answer = say(made.id, ASK, override_model=first)
                # What was set of the agent holds for other models too: two calls at once.
                found = "Paris: sun; Rome: rain."
                equal(text_of(answer.messages[-1]), found, "one request with another")
                equal(letta.agents.retrieve(made.id).model, second, "the model stays")
