"""Agents that look after the memory of others, and groups, for which the client has no methods."""

from __future__ import annotations

import time

from .testing import agent, block_value, check, equal, holds, letta, prompt

REWRITE = 'call memory_rethink with {"label": "human", "new_memory": "Ada likes tea."}'


def ended(run_id: str):
    """A run that has ended."""
    for _ in range(600):
        run = letta.runs.retrieve(run_id)
        if run.status not in ("created", "running"):
            return run
        time.sleep(0.05)
    raise AssertionError(f"{run_id} does not end")


@check("an agent with sleeptime comes with another one, which looks after its memory")
def sleeptime() -> None:
    blocks = [{"label": "human", "value": "Ada"}]
    with agent(memory_blocks=blocks, enable_sleeptime=True) as made:
        equal(made.enable_sleeptime, True, "the switch")
        group = made.managed_group
        equal(group.manager_type, "sleeptime", "the kind of the group")
        equal((group.manager_agent_id, group.turns_counter), (made.id, -1), "who leads it")
        equal(group.sleeptime_agent_frequency, 5, "how often")
        other = letta.agents.retrieve(group.agent_ids[0])
        equal((other.name, other.agent_type), (f"{made.name}-sleeptime", "sleeptime_agent"), "the other")
        labels = {block.label for block in letta.agents.blocks.list(other.id)}
        equal(labels, {"human", "memory_persona"}, "its blocks")
        script = [{"reply": f"{REWRITE}\nthen\ncall memory_finish_edits"}]
        letta.agents.update(other.id, metadata={"script": script})

        message = [{"role": "user", "content": "I like tea."}]
        answer = letta.agents.messages.create(made.id, messages=message)
        run = ended(answer.usage.run_ids[0])
        equal((run.status, run.stop_reason), ("completed", "tool_rule"), "its run")
        equal(run.metadata["run_type"], "sleeptime_agent_send_message_async", "the kind of the run")
        holds(run.metadata["result"]["messages"], "what came of it")
        equal(block_value(made.id, "human"), "Ada likes tea.", "the shared block")
        holds("Ada likes tea." in prompt(made.id), "the block in the agent's prompt")
        again = letta.agents.messages.create(made.id, messages=message)
        equal(again.usage.run_ids, None, "a request that is not looked at")

        change = {"manager_type": "sleeptime", "sleeptime_agent_frequency": 2}
        body = {"manager_config": change}
        changed = letta.patch(f"/v1/groups/{group.id}", body=body, cast_to=dict[str, object])
        equal((changed["sleeptime_agent_frequency"], changed["turns_counter"]), (2, 1), "a change")
        more = letta.blocks.create(label="plan", value="Rest.")
        letta.agents.blocks.attach(more.id, agent_id=made.id)
        labels = {block.label for block in letta.agents.blocks.list(other.id)}
        equal(labels, {"human", "memory_persona", "plan"}, "its blocks, later")
        letta.agents.update(made.id, enable_sleeptime=False)
        answer = letta.agents.messages.create(made.id, messages=message)
        equal(answer.usage.run_ids, None, "a request without sleeptime")
    found = [each.id for each in letta.agents.list(name=other.name)]
    holds(other.id not in found, "the other agent is gone with the first")
    letta.blocks.delete(more.id)


@check("groups are made, listed, changed and deleted")
def groups() -> None:
    with agent() as one, agent() as two:
        config = {"manager_type": "supervisor", "manager_agent_id": one.id}
        body = {"agent_ids": [two.id], "description": "They work.", "manager_config": config}
        made = letta.post("/v1/groups/", body=body, cast_to=dict[str, object])
        equal((made["manager_type"], made["manager_agent_id"]), ("supervisor", one.id), "a group")
        path = f"/v1/groups/{made['id']}"
        equal(letta.get(path, cast_to=dict[str, object]), made, "a group that is read")
        listed = letta.get(f"/v1/agents/{two.id}/groups", cast_to=list[object])
        equal([group["id"] for group in listed], [made["id"]], "the groups of an agent")
        changed = letta.patch(path, body={"description": "They rest."}, cast_to=dict[str, object])
        equal(changed["description"], "They rest.", "a change")
        done = letta.delete(path, cast_to=dict[str, object])
        equal(done, {"message": f"Group id={made['id']} successfully deleted"}, "a deletion's answer")
