"""Calls of tools in a conversation: results, memory, failures, several at once."""

from __future__ import annotations

from .functions import break_down, count_words, note_down, open_door, repeat_word, who_am_i
from .testing import agent, block_value, call, check, equal, history, holds, kinds, letta, only
from .testing import prompt, say, text_of, tools

SHAPE = ["tool_call_message", "tool_return_message", "assistant_message"]


@check("a function is called, its result and what it printed come back")
def result() -> None:
    with tools(count_words) as (counts,), agent(tool_ids=[counts.id]) as made:
        answer = say(made.id, call("count_words", text="a b c"))
        equal(kinds(answer.messages), SHAPE, "the messages")
        called, returned, said = answer.messages
        equal(called.tool_call.name, "count_words", "the call")
        equal(called.tool_call, called.tool_calls[0], "the call in both places")
        equal((returned.status, returned.tool_return), ("success", "3"), "the result")
        equal(returned.tool_call_id, called.tool_call.tool_call_id, "its call")
        equal((returned.name, returned.stdout), ("count_words", ["counting\n"]), "what it printed")
        equal(returned.tool_returns[0].tool_return, "3", "the result in the list of results")
        holds("3" in text_of(said), "the model saw it")
        equal((called.step_id, answer.usage.step_count), (returned.step_id, 2), "the steps")
        holds(said.step_id != called.step_id, "the answer is a step of its own")
        equal(answer.stop_reason.stop_reason, "end_turn", "the end")


@check("a function writes memory through agent_state, for the next request")
def memory() -> None:
    blocks = [{"label": "human", "value": "Ada"}]
    with tools(note_down) as (notes,), agent(tool_ids=[notes.id], memory_blocks=blocks) as made:
        answer = say(made.id, call("note_down", line="Likes tea."))
        returned = only(answer.messages, "tool_return_message")
        equal((returned.status, returned.tool_return), ("success", "noted"), f"{returned.stderr}")
        equal(block_value(made.id, "human"), "Ada\nLikes tea.", "the block")
        holds("Likes tea." in prompt(made.id), "the stored prompt")
        last = answer.messages[-1].step_id
        holds("Likes tea." not in sent_prompt(last), "the prompt of the same request")
        next_step = say(made.id, "say Yes.").messages[0].step_id
        holds("Likes tea." in sent_prompt(next_step), "the prompt of the next request")


def sent_prompt(step_id: str) -> str:
    """The system prompt that the model got."""
    sent = letta.steps.trace.retrieve(step_id).request_json
    if isinstance(sent.get("system"), str):
        return sent["system"]
    messages = sent.get("messages", [])
    holds(messages, f"the trace of an offline step holds the request: {list(sent)}")
    return str([each for each in messages if each.get("role") == "system"])


@check("built-in tools write memory, and tell what is wrong")
def built_in_memory() -> None:
    blocks = [
        {"label": "human", "value": "Name: Ada"},
        {"label": "fixed", "value": "Kept.", "read_only": True},
    ]
    with agent(memory_blocks=blocks, include_base_tools=True) as made:

        def returned(name: str, **arguments: object):
            answer = say(made.id, call(name, **arguments))
            return only(answer.messages, "tool_return_message")

        done = returned("memory_replace", label="human", old_string="Ada", new_string="Grace")
        equal((done.status, block_value(made.id, "human")), ("success", "Name: Grace"), "replaced")
        returned("memory_insert", label="human", new_string="Likes tea.")
        equal(block_value(made.id, "human"), "Name: Grace\nLikes tea.", "inserted")
        holds(done.stdout is None and done.stderr is None, "nothing is printed")
        failed = returned("memory_insert", label="fixed", new_string="x")
        words = "This block is read-only and cannot be edited."
        holds(failed.status == "error" and words in failed.tool_return, failed.tool_return)
        failed = returned("memory_replace", label="human", old_string="zzz", new_string="x")
        words = "No replacement was performed, old_string `zzz` did not appear verbatim"
        holds(failed.status == "error" and words in failed.tool_return, failed.tool_return)
        failed = returned("memory_insert", label="nope", new_string="x")
        words = "Block field nope does not exist (available sections = "
        holds(failed.status == "error" and words in failed.tool_return, failed.tool_return)


@check("what was said and stored is searched")
def search() -> None:
    names = ["archival_memory_insert", "archival_memory_search"]
    with agent(include_base_tools=True, tools=names) as made:
        say(made.id, "say The kettle is blue.")
        found = only(
            say(made.id, call("conversation_search", query="kettle")).messages, "tool_return_message"
        )
        holds("kettle is blue" in found.tool_return, found.tool_return)
        stored = say(made.id, call(names[0], content="Ada keeps bees.", tags=["pets"]))
        equal(only(stored.messages, "tool_return_message").status, "success", "stored")
        found = only(say(made.id, call(names[1], query="bees")).messages, "tool_return_message")
        holds("Ada keeps bees." in found.tool_return, found.tool_return)


@check("a failing function is an error that the model can go on from")
def failing() -> None:
    with tools(break_down, count_words) as made_tools:
        with agent(tool_ids=[each.id for each in made_tools]) as made:
            text = call("break_down", reason="no luck") + "\nthen\n" + call("count_words", text="a b")
            answer = say(made.id, text)
            equal(kinds(answer.messages), SHAPE[:2] * 2 + SHAPE[2:], "the messages")
            failed = answer.messages[1]
            equal(failed.status, "error", "the status")
            equal(failed.tool_return, "Error executing function break_down: ValueError: no luck", "words")
            equal(failed.stdout, ["about to fail\n"], "what it printed before")
            holds("Traceback" in failed.stderr[0] and "no luck" in failed.stderr[0], f"{failed.stderr}")
            equal(answer.messages[3].tool_return, "2", "the call after it")


@check("calls of unknown tools and arguments that are no JSON go back to the model")
def nonsense() -> None:
    with tools(count_words) as (counts,), agent(tool_ids=[counts.id]) as made:
        answer = say(made.id, "call nope with {}")
        returned = only(answer.messages, "tool_return_message")
        words = "[ToolConstraintError] Cannot call nope, valid tools include: ['count_words']"
        holds(returned.status == "error" and words in returned.tool_return, returned.tool_return)
        equal((returned.stdout, returned.stderr), (None, None), "nothing ran")
        equal(answer.stop_reason.stop_reason, "end_turn", "the end")
        answer = say(made.id, "call count_words with not JSON at all")
        returned = only(answer.messages, "tool_return_message")
        equal(returned.status, "error", f"no JSON: {returned.tool_return}")
        answer = say(made.id, call("count_words"))
        equal(only(answer.messages, "tool_return_message").status, "error", "a missing argument")


@check("secrets and the agent's id are in the environment")
def environment() -> None:
    with tools(who_am_i) as (who,), agent(tool_ids=[who.id], secrets={"CITY": "Paris"}) as made:
        answer = say(made.id, call("who_am_i"))
        found = only(answer.messages, "tool_return_message").tool_return
        equal(found, f"{{'agent': '{made.id}', 'city': 'Paris'}}", "what it found")


@check("several calls at once are one message and one message of results")
def parallel() -> None:
    text = call("count_words", text="a b") + "\n" + call("open_door", door="front")
    with tools(count_words, open_door) as made_tools:
        ids = [each.id for each in made_tools]
        with agent(tool_ids=ids, parallel_tool_calls=True) as made:
            answer = say(made.id, text)
            equal(kinds(answer.messages), SHAPE, "the messages")
            called, returned, _ = answer.messages
            names = [each.name for each in called.tool_calls]
            equal(names, ["count_words", "open_door"], "the calls")
            results = [(each.tool_call_id, each.tool_return) for each in returned.tool_returns]
            expected = [each.tool_call_id for each in called.tool_calls]
            equal(results, list(zip(expected, ["2", "front is open"])), "the results")
            equal(len(set(expected)), 2, "ids of calls")
        with agent(tool_ids=ids) as made:
            equal(made.llm_config.parallel_tool_calls, False, "off unless it is switched on")
            called = only(say(made.id, text).messages, "tool_call_message")
            equal([each.name for each in called.tool_calls], ["count_words"], "only the first counts")


@check("long results are cut with a note")
def cut() -> None:
    with tools(repeat_word, return_char_limit=50) as (repeats,), agent(tool_ids=[repeats.id]) as made:
        answer = say(made.id, call("repeat_word", word="abcde", times=100))
        found = only(answer.messages, "tool_return_message").tool_return
        holds(found.startswith("abcde" * 10), f"the beginning: {found}")
        holds("function output was truncated since it exceeded the character limit" in found, found)


@check("rules hold: a last tool, a first tool, a tool that must be called")
def rules() -> None:
    with tools(count_words, open_door) as made_tools:
        ids = [each.id for each in made_tools]
        last = [{"type": "exit_loop", "tool_name": "open_door"}]
        with agent(tool_ids=ids, tool_rules=last) as made:
            answer = say(made.id, call("open_door", door="back"))
            equal(kinds(answer.messages), SHAPE[:2], "the messages")
            equal(answer.stop_reason.stop_reason, "tool_rule", "the end")
        first = [{"type": "run_first", "tool_name": "count_words"}]
        with agent(tool_ids=ids, tool_rules=first) as made:
            answer = say(made.id, "say Hello.")
            equal(only(answer.messages, "tool_call_message").tool_call.name, "count_words", "a call")
        needed = [{"type": "required_before_exit", "tool_name": "open_door"}]
        with agent(tool_ids=ids, tool_rules=needed) as made:
            answer = say(made.id, "say Hello.")
            names = [each.tool_call.name for each in answer.messages if hasattr(each, "tool_call")]
            equal(names, ["open_door"], "the call that was missing")
            found = [text_of(each) for each in history(made.id) if each.message_type == "user_message"]
            words = "ToolRuleViolated: You must call open_door at least once to exit the loop."
            holds(any(words in each for each in found), f"the reminder: {found}")


@check("a tool in TypeScript is called as well")
def typescript() -> None:
    source = "export function add(left: number, right: number): number { return left + right }"
    number = {"type": "number"}
    parameters = {"type": "object", "properties": {"left": number, "right": number}}
    schema = {"name": "add", "description": "Adds.", "parameters": parameters}
    made_tool = letta.tools.create(source_code=source, source_type="typescript", json_schema=schema)
    with agent(tool_ids=[made_tool.id]) as made:
        answer = say(made.id, call("add", left=2, right=3))
        equal(only(answer.messages, "tool_return_message").tool_return, "5", "the sum")
    letta.tools.delete(made_tool.id)
