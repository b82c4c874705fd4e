"""Agents: made, read, listed, changed, deleted."""

from __future__ import annotations

import re

from letta_client import NotFoundError

from .functions import count_words, open_door
from .testing import MINE, MODEL, UNKNOWN, agent, check, equal, get, history, holds, letta, prompt
from .testing import refused, text_of, tools

ALL = ["agent.blocks", "agent.tools", "agent.tags", "agent.secrets", "agent.identities"]


@check("an agent is made with memory, tools by name and id, tags, rules and secrets")
def made_whole() -> None:
    with tools(count_words, open_door) as (counts, opens):
        settings = {
            "name": "Ada's helper",
            "description": "Helps.",
            "include_base_tools": True,
            "memory_blocks": [
                {"label": "human", "value": "Name: Ada"},
                {"label": "plan", "value": "None yet.", "description": "What to do.", "limit": 500},
            ],
            "tools": [counts.name],
            "tool_ids": [opens.id],
            "tool_rules": [{"type": "exit_loop", "tool_name": opens.name}],
            "tags": [MINE, "helper"],
            "secrets": {"CITY": "Berlin"},
            "metadata": {"origin": "tests"},
            "timezone": "Europe/Berlin",
        }
        with agent(**settings) as made:
            holds(re.fullmatch(r"agent-[0-9a-f-]{36}", made.id), f"an id: {made.id}")
            equal(made.agent_type, "letta_v1_agent", "the type")
            equal((made.name, made.description), ("Ada's helper", "Helps."), "name and description")
            equal((made.model, made.embedding), (MODEL, None), "the models")
            equal(made.llm_config.handle, MODEL, "the model's configuration")
            holds(0 < made.llm_config.context_window <= 128_000, "the context window")
            equal(made.timezone, "Europe/Berlin", "the time zone")
            equal(made.metadata, {"origin": "tests"}, "the metadata")
            blocks = {block.label: block for block in made.blocks}
            equal(blocks["human"].value, "Name: Ada", "a block's value")
            holds(blocks["human"].description, "a usual label's description")
            equal(blocks["human"].limit, 100_000, "a block's limit")
            plan = blocks["plan"]
            equal((plan.description, plan.limit), ("What to do.", 500), "another block")
            in_memory = {block.label for block in made.memory.blocks}
            equal(in_memory, set(blocks), "blocks in the memory")
            names = {each.name for each in made.tools}
            base = {"conversation_search", "memory_insert", "memory_replace"}
            equal(names, base | {counts.name, opens.name}, "the tools")
            rules = {(rule.type, rule.tool_name) for rule in made.tool_rules}
            base_rules = {("continue_loop", name) for name in base}
            equal(rules, base_rules | {("exit_loop", opens.name)}, "rules, those of base tools too")
            equal(sorted(made.tags), sorted([MINE, "helper"]), "the tags")
            secret = made.secrets[0]
            equal((secret.key, secret.value, secret.agent_id), ("CITY", "Berlin", made.id), "a secret")
            equal(len(made.message_ids), 1, "messages: the system prompt")
            equal(made.last_stop_reason, None, "no run yet")
            holds("Name: Ada" in prompt(made.id), "the memory in the prompt")
            holds(f"- AGENT_ID: {made.id}" in prompt(made.id), "the id in the prompt")


@check("defaults: a name, a time zone, base tools")
def defaults() -> None:
    made = letta.agents.create(model=MODEL)
    holds(re.fullmatch(r"[A-Z]\w+", made.name) or len(made.name) > 3, f"a name: {made.name}")
    equal((made.timezone, made.blocks, made.tags), ("UTC", [], []), "what nobody chose")
    names = {each.name for each in made.tools}
    equal(names, {"conversation_search", "memory_insert", "memory_replace"}, "base tools")
    equal(made.message_buffer_autoclear, False, "the buffer")
    holds(made.created_at is not None and made.updated_at is not None, "times")
    equal((made.max_files_open, made.per_file_view_window_char_limit), (10, 25_000), "files")
    letta.agents.delete(made.id)


@check("relations are empty unless they are asked for")
def includes() -> None:
    blocks = [{"label": "human", "value": "Ada"}]
    settings = {"memory_blocks": blocks, "tags": [MINE], "secrets": {"A": "b"}}
    with agent(**settings, include_base_tools=True) as made:
        bare = letta.agents.retrieve(made.id)
        found = (bare.blocks, bare.memory.blocks, bare.tools, bare.tags, bare.secrets)
        equal(found, ([], [], [], [], []), "an agent without its relations")
        equal((bare.id, bare.name, bare.system), (made.id, made.name, made.system), "the rest")
        whole = letta.agents.retrieve(made.id, include=ALL)
        equal([block.value for block in whole.blocks], ["Ada"], "its blocks")
        equal([block.value for block in whole.memory.blocks], ["Ada"], "its memory")
        equal(len(whole.tools), 3, "its tools")
        equal((whole.tags, whole.secrets[0].key), ([MINE], "A"), "its tags and secrets")
        older = letta.agents.retrieve(made.id, include_relationships=["tags"])
        equal((older.tags, older.tools), ([MINE], []), "the older spelling")
        unknown = ["agent.nothing"]
        refused(lambda: letta.agents.retrieve(made.id, include=unknown), 422, "agent.nothing", "unknown")


@check("lists: pages, order, filters")
def lists() -> None:
    names = [f"{MINE} one", f"{MINE} two", f"{MINE} three"]
    ids = []
    for place, name in enumerate(names):
        tags = [f"{MINE}-list", f"{MINE}-{place % 2}"]
        made = letta.agents.create(name=name, model=MODEL, tags=tags, include_base_tools=False)
        ids.append(made.id)

    def found(**query: object) -> list:
        return [each.id for each in letta.agents.list(**query)]

    tagged = {"tags": [f"{MINE}-list"]}
    equal(found(**tagged, limit=1), ids[::-1], "all pages, the newest first")
    equal(found(**tagged, limit=2, order="asc"), ids, "the oldest first")
    equal(found(**tagged, after=ids[1]), ids[:1], "after an agent")
    equal(found(**tagged, order="asc", after=ids[0]), ids[1:], "after, the oldest first")
    equal(found(name=names[1]), ids[1:2], "by name")
    equal(found(query_text=names[2].upper()), ids[2:], "by part of the name")
    both = [f"{MINE}-list", f"{MINE}-0"]
    equal(found(tags=both, match_all_tags=True), [ids[2], ids[0]], "with all tags")
    equal(found(tags=both), ids[::-1], "with any tag")
    first = letta.agents.list(**tagged, limit=1).items[0]
    equal(first.tags, [], "a list without relations")
    first = letta.agents.list(**tagged, limit=1, include=["agent.tags"]).items[0]
    holds(f"{MINE}-list" in first.tags, "a list with tags")
    equal(get("/v1/agents/count", tags=tagged["tags"]), 3, "a count")
    holds(f"{MINE}-list" in letta.tags.list(query_text=MINE), "tags that agents have")
    for id in ids:
        letta.agents.delete(id)
    equal(found(**tagged), [], "a list of what was deleted")


@check("an update changes what is given and nothing else")
def updates() -> None:
    blocks = [{"label": "human", "value": "Ada"}]
    with tools(count_words) as (counts,):
        with agent(name="Before", tags=[MINE], memory_blocks=blocks, secrets={"A": "1"}) as made:
            changed = letta.agents.update(made.id, name="After", description="New.", tags=["x"])
            equal((changed.name, changed.description, changed.tags), ("After", "New.", ["x"]), "changes")
            equal([block.value for block in changed.blocks], ["Ada"], "blocks, filled in the answer")
            equal([each.key for each in changed.secrets], ["A"], "secrets that were not given")
            changed = letta.agents.update(made.id, secrets={"B": "2"}, tool_ids=[counts.id])
            equal([(each.key, each.value) for each in changed.secrets], [("B", "2")], "other secrets")
            equal([each.name for each in changed.tools], [counts.name], "other tools")
            equal(changed.name, "After", "the name that was not given")
            changed = letta.agents.update(made.id, system="Be brief.", metadata={"n": 1})
            equal((changed.system, changed.metadata), ("Be brief.", {"n": 1}), "the instructions")
            rule = {"type": "max_count_per_step", "tool_name": counts.name, "max_count_limit": 2}
            changed = letta.agents.update(made.id, tool_rules=[rule])
            limits = [rule.max_count_limit for rule in changed.tool_rules]
            equal(limits, [2], "rules")
            equal(letta.agents.retrieve(made.id).description, "New.", "what was kept")
            absent = lambda: letta.agents.update(f"agent-{UNKNOWN}", name="x")  # noqa: E731
            refused(absent, 404, f"Agent with ID agent-{UNKNOWN} not found", "an agent that is not there")


@check("the first messages may be written by the caller")
def first_messages() -> None:
    said = [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Welcome back."}]
    with agent(initial_message_sequence=said) as made:
        found = [(each.message_type, text_of(each)) for each in history(made.id)[1:]]
        equal(found, [("user_message", "Hello."), ("assistant_message", "Welcome back.")], "messages")


@check("what is wrong is refused with the words that clients know")
def refusals() -> None:
    create = letta.agents.create
    no_model = "Must specify either model or llm_config in request"
    refused(lambda: create(include_base_tools=False), 400, no_model, "no model")
    unknown = "Handle openai/zzz not found, must be one of"
    refused(lambda: create(model="openai/zzz"), 404, unknown, "an unknown model")
    form = "The model handle should be in the format provider/model-name"
    refused(lambda: create(model="scripted"), 400, form, "no handle")
    missing = "Tools not found by name: {'nothing_like_it'}"
    refused(lambda: create(model=MODEL, tools=["nothing_like_it"]), 400, missing, "an unknown tool")
    by_id = f"Tools not found by id:   {{'tool-{UNKNOWN}'}}"
    refused(lambda: create(model=MODEL, tool_ids=[f"tool-{UNKNOWN}"]), 400, by_id, "an unknown id")
    rule = {"type": "whenever", "tool_name": "x"}
    refused(lambda: create(model=MODEL, tool_rules=[rule]), 422, "tool_rules", "an unknown rule")
    split = "Invalid agent type: AgentType.split_thread_agent"
    refused(lambda: create(model=MODEL, agent_type="split_thread_agent"), 400, split, "a type")
    retrieve = letta.agents.retrieve
    refused(lambda: retrieve("agent-1"), 422, "string_pattern_mismatch", "no id")
    words = f"Agent with ID agent-{UNKNOWN} not found"
    refused(lambda: retrieve(f"agent-{UNKNOWN}"), 404, words, "an unknown agent")
    refused(lambda: letta.agents.list(limit="many").items, 422, "limit", "no number")


@check("deletion takes the messages and leaves blocks")
def deleted() -> None:
    block = letta.blocks.create(label="human", value="Ada")
    made = letta.agents.create(model=MODEL, block_ids=[block.id], include_base_tools=False)
    answer = letta.agents.delete(made.id)
    equal(answer, {"message": f"Agent id={made.id} successfully deleted"}, "the answer")
    for gone in (lambda: letta.agents.retrieve(made.id), lambda: letta.agents.messages.list(made.id)):
        try:
            gone()
        except NotFoundError:
            continue
        holds(False, "an agent that was deleted is gone, its messages too")
    equal(letta.blocks.retrieve(block.id).value, "Ada", "a block of a deleted agent")
    letta.blocks.delete(block.id)
