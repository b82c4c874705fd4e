"""Tools of agents: attached, listed, run, and whether they wait for approval."""

from __future__ import annotations

from .functions import break_down, count_words, note_down, open_door
from .testing import UNKNOWN, agent, block_value, check, equal, holds, letta, refused, tools


@check("tools are attached, listed and detached")
def attached() -> None:
    with tools(count_words, open_door) as (counts, opens), agent() as made:
        for each in (counts, opens, counts):
            answer = letta.agents.tools.attach(each.id, agent_id=made.id)
            equal(answer, None, "the answer of this generation")
        found = {each.name for each in letta.agents.tools.list(made.id)}
        equal(found, {counts.name, opens.name}, "the list")
        pages = [each.id for each in letta.agents.tools.list(made.id, limit=1)]
        equal(sorted(pages), sorted([counts.id, opens.id]), "the list in pages")
        letta.agents.tools.detach(counts.id, agent_id=made.id)
        found = [each.name for each in letta.agents.tools.list(made.id)]
        equal(found, [opens.name], "after detaching")
        attach = letta.agents.tools.attach
        words = f"Tool with id=tool-{UNKNOWN} not found"
        refused(lambda: attach(f"tool-{UNKNOWN}", agent_id=made.id), 404, words, "an unknown tool")


@check("a deleted tool is gone from its agents")
def deleted() -> None:
    with agent() as made:
        with tools(count_words) as (counts,):
            letta.agents.tools.attach(counts.id, agent_id=made.id)
        equal(letta.agents.tools.list(made.id).items, [], "the list")


@check("approval is switched on and off for an agent")
def approval() -> None:
    with tools(open_door) as (opens,), agent(tool_ids=[opens.id]) as made:

        def waiting() -> list:
            rules = letta.agents.retrieve(made.id).tool_rules
            return [rule.tool_name for rule in rules if rule.type == "requires_approval"]

        switch = letta.agents.tools.update_approval
        equal(waiting(), [], "before")
        answer = switch(opens.name, agent_id=made.id, body_requires_approval=True)
        equal((answer, waiting()), (None, [opens.name]), "on")
        switch(opens.name, agent_id=made.id, body_requires_approval=False)
        equal(waiting(), [], "off")
    with tools(open_door, default_requires_approval=True) as (opens,):
        with agent(tool_ids=[opens.id]) as made:
            equal([rule.type for rule in made.tool_rules], ["requires_approval"], "by default")


@check("an agent's tool runs without a model")
def run() -> None:
    blocks = [{"label": "human", "value": "Ada"}]
    with tools(count_words, note_down, break_down) as made_tools:
        ids = [each.id for each in made_tools]
        with agent(tool_ids=ids, memory_blocks=blocks) as made:
            run = letta.agents.tools.run
            result = run("count_words", agent_id=made.id, args={"text": "a b c"})
            equal((result.status, result.func_return), ("success", 3), "a number")
            equal(result.stdout, ["counting\n"], "what it printed")
            run("note_down", agent_id=made.id, args={"line": "Likes tea."})
            equal(block_value(made.id, "human"), "Ada\nLikes tea.", "memory that it wrote")
            result = run("break_down", agent_id=made.id, args={"reason": "no"})
            equal((result.status, result.func_return), ("error", None), "a failure")
            holds("ValueError: no" in "".join(result.stderr), f"its reason: {result.stderr}")
            words = f"Tool 'zzz' not found or not attached to agent '{made.id}'"
            refused(lambda: run("zzz", agent_id=made.id, args={}), 404, words, "an unknown tool")
