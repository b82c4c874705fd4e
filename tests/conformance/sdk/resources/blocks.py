"""Blocks, of agents and by themselves."""

from __future__ import annotations

from .testing import MINE, UNKNOWN, agent, block_value, check, equal, holds, letta, prompt, refused


@check("a block is made, read, changed and deleted")
def one() -> None:
    block = letta.blocks.create(label=MINE, value="One.", description="Notes.", limit=20, tags=["t"])
    equal((block.label, block.value, block.limit), (MINE, "One.", 20), "a block")
    equal((block.description, block.read_only, block.tags), ("Notes.", False, ["t"]), "the rest")
    equal(letta.blocks.retrieve(block.id), block, "a block that is read")
    longer = "longer than the limit that is only shown"
    changed = letta.blocks.update(block.id, value=longer, metadata={"a": 1})
    equal((changed.value, changed.metadata, changed.limit), (longer, {"a": 1}, 20), "changes")
    equal(letta.blocks.delete(block.id), None, "a deletion's answer")
    gone = f"Block with id '{block.id}' not found"
    refused(lambda: letta.blocks.retrieve(block.id), 404, gone, "a block that is gone")


@check("blocks are listed by label, words and agents")
def listed() -> None:
    made = [letta.blocks.create(label=f"{MINE}_{n}", value=f"{MINE} value {n}") for n in range(3)]
    ids = [block.id for block in made]

    def found(**query: object) -> list:
        return [block.id for block in letta.blocks.list(**query)]

    equal(found(value_search=f"{MINE} value", limit=2), ids, "by words, through pages, oldest first")
    equal(found(label=f"{MINE}_1"), ids[1:2], "by label")
    equal(found(label_search=MINE, order="desc"), ids[::-1], "by part of the label")
    with agent(block_ids=ids[:1]) as made_agent:
        free = found(label_search=MINE, connected_to_agents_count_eq=[0])
        equal(free, ids[1:], "those without agents")
        users = [each.id for each in letta.blocks.agents.list(ids[0])]
        equal(users, [made_agent.id], "the agents of a block")
    for id in ids:
        letta.blocks.delete(id)


@check("an agent's blocks are read and changed by label, and its prompt with them")
def of_agents() -> None:
    blocks = [{"label": "human", "value": "Ada"}, {"label": "plan", "value": "Rest."}]
    with agent(memory_blocks=blocks) as made:
        labels = {block.label for block in letta.agents.blocks.list(made.id)}
        equal(labels, {"human", "plan"}, "the list")
        equal(block_value(made.id, "plan"), "Rest.", "one of them")
        update = letta.agents.blocks.update
        equal(update("plan", agent_id=made.id, value="Work.").value, "Work.", "a change")
        holds("Work." in prompt(made.id), "the changed value in the prompt")
        id = letta.agents.blocks.retrieve("human", agent_id=made.id).id
        letta.blocks.update(id, value="Grace")
        holds("Grace" in prompt(made.id), "a block changed by itself, in the prompt")
        missing = f"No block with label 'nothing' found for agent '{made.id}'"
        refused(lambda: block_value(made.id, "nothing"), 404, missing, "an unknown label")


@check("blocks are shared: attached, changed for all, detached")
def shared() -> None:
    block = letta.blocks.create(label="team", value="red")
    with agent() as first, agent() as second:
        for each in (first, second):
            state = letta.agents.blocks.attach(block.id, agent_id=each.id)
            equal(state.id, each.id, "the answer to attaching")
        letta.agents.blocks.attach(block.id, agent_id=first.id)
        letta.agents.blocks.update("team", agent_id=first.id, value="blue")
        equal(block_value(second.id, "team"), "blue", "the other agent's value")
        other = letta.blocks.create(label="team", value="green")
        attach = letta.agents.blocks.attach
        refused(lambda: attach(other.id, agent_id=first.id), 409, "", "a second block of one label")
        letta.blocks.delete(other.id)
        letta.agents.blocks.detach(block.id, agent_id=first.id)
        equal([b.label for b in letta.agents.blocks.list(first.id)], [], "after detaching")
        equal(letta.blocks.retrieve(block.id).value, "blue", "the block stays")
        letta.blocks.delete(block.id)
        equal([b.label for b in letta.agents.blocks.list(second.id)], [], "after deleting")
        absent = lambda: attach(f"block-{UNKNOWN}", agent_id=first.id)  # noqa: E731
        refused(absent, 404, "", "a block that is not there")
