"""What keeps an agent going: reset, recompile, compaction, a look into its context."""

from __future__ import annotations

from .testing import agent, check, equal, get, history, holds, kinds, letta, prompt, refused, say, text_of


@check("a reset drops all messages but the prompt")
def reset() -> None:
    with agent(memory_blocks=[{"label": "human", "value": "Ada"}]) as made:
        say(made.id, "say One.")
        state = letta.agents.messages.reset(made.id, add_default_initial_messages=False)
        equal([block.label for block in state.blocks], ["human"], "the answer, with relations")
        equal(len(state.message_ids), 1, "messages in context")
        equal(kinds(history(made.id)), ["system_message"], "messages that are listed")
        equal(text_of(say(made.id, "say Two.").messages[0]), "Two.", "the next message")


@check("the prompt is compiled anew when it is asked for")
def recompile() -> None:
    with agent(system="Be brief.") as made:
        letta.agents.update(made.id, system="Be long.")
        holds("Be brief." in prompt(made.id), "the prompt after an update")
        holds("Be long." in letta.agents.recompile(made.id, dry_run=True), "what it would be")
        holds("Be brief." in prompt(made.id), "the prompt after a dry run")
        letta.agents.recompile(made.id)
        holds("Be long." in prompt(made.id), "the prompt after compiling")


@check("a history is made shorter by a summary")
def compact() -> None:
    with agent() as made:
        words = "Summarization failed to reduce the number of messages."
        refused(lambda: letta.agents.messages.compact(made.id), 400, words, "nothing to gain")
        for word in ("One", "Two", "Three", "Four", "Five", "Six"):
            say(made.id, f"say {word}.")
        done = letta.agents.messages.compact(made.id)
        equal(done.num_messages_before, 13, "messages before")
        holds(2 < done.num_messages_after < 13, f"messages after: {done.num_messages_after}")
        holds(done.summary, "a summary")
        context = letta.agents.retrieve(made.id).message_ids
        equal(len(context), done.num_messages_after, "messages in context")
        done = letta.agents.messages.compact(made.id, compaction_settings={"mode": "all"})
        equal(done.num_messages_after, 2, "all but the prompt and the summary")
        holds(done.summary in str(get(f"/v1/agents/{made.id}/context")["summary_memory"]), "in context")
        listed = [text_of(each) for each in history(made.id)]
        holds("One." in listed and "Six." in listed, "old messages stay listed")
        equal(text_of(say(made.id, "say Seven.").messages[0]), "Seven.", "the next message")


@check("the context can be looked into")
def context() -> None:
    blocks = [{"label": "human", "value": "Ada"}]
    with agent(memory_blocks=blocks, include_base_tools=True, system="Be brief.") as made:
        say(made.id, "say One.")
        found = get(f"/v1/agents/{made.id}/context")
        holds("Ada" in found["core_memory"], "the memory")
        holds("Be brief." in found["system_prompt"], "the instructions")
        holds(made.id in found["external_memory_summary"], "the metadata")
        equal(found["num_messages"], 3, "messages")
        names = {each["function"]["name"] for each in found["functions_definitions"]}
        equal(names, {"conversation_search", "memory_insert", "memory_replace"}, "tools")
        equal([each["role"] for each in found["messages"]], ["user", "assistant"], "the messages")
        parts = [value for key, value in found.items() if key.startswith("num_tokens_")]
        equal(sum(parts), found["context_window_size_current"], "the tokens of all parts")
        equal(found["summary_memory"], None, "no summary")


@check("an agent may forget after each request")
def forgetful() -> None:
    with agent(message_buffer_autoclear=True) as made:
        say(made.id, "say One.")
        say(made.id, "say Two.")
        equal(len(letta.agents.retrieve(made.id).message_ids), 3, "messages in context")
        equal(len(history(made.id)), 5, "messages that are listed")
