// Agents with their blocks and tools; models.

import assert from "node:assert/strict";

import { check, COUNT_WORDS, letta, MINE, MODEL, OPEN_DOOR, refused, textOf, UNKNOWN } from "./testing.mjs";
import { all, history, withAgent, withTool } from "./testing.mjs";

const prompt = async (agentId) => textOf((await history(agentId))[0]);

check("agents: one is made, read with and without relations, changed and deleted", () =>
  withTool({ source_code: COUNT_WORDS }, async (tool) => {
    const settings = {
      name: "Ada's helper",
      tags: [MINE],
      tools: [tool.name],
      memory_blocks: [{ label: "human", value: "Name: Ada" }],
      secrets: { CITY: "Berlin" },
      tool_rules: [{ type: "exit_loop", tool_name: tool.name }],
    };
    const id = await withAgent(settings, async (agent) => {
      assert.match(agent.id, /^agent-[0-9a-f-]{36}$/);
      assert.deepEqual([agent.name, agent.agent_type, agent.model], ["Ada's helper", "letta_v1_agent", MODEL]);
      assert.deepEqual([agent.tags, agent.tools.map((each) => each.id)], [[MINE], [tool.id]]);
      assert.deepEqual(agent.blocks.map((block) => block.value), ["Name: Ada"]);
      assert.deepEqual(agent.secrets.map(({ key, value }) => [key, value]), [["CITY", "Berlin"]]);
      assert.deepEqual(agent.tool_rules.map((rule) => rule.type), ["exit_loop"]);
      const bare = await letta.agents.retrieve(agent.id);
      assert.deepEqual([bare.blocks, bare.tools, bare.tags, bare.secrets], [[], [], [], []]);
      const include = ["agent.blocks", "agent.tools", "agent.tags"];
      const whole = await letta.agents.retrieve(agent.id, { include });
      assert.deepEqual([whole.blocks.length, whole.tools.length, whole.tags], [1, 1, [MINE]]);
      const changed = await letta.agents.update(agent.id, { name: "Other", tags: [] });
      assert.deepEqual([changed.name, changed.tags, changed.tools.length], ["Other", [], 1]);
      return agent.id;
    });
    await refused(letta.agents.retrieve(id), 404, `Agent with ID ${id} not found`);
  }));

check("agents: lists go through their pages and take filters", async () => {
  const tag = `${MINE}-list`;
  const ids = [];
  for (const name of ["one", "two", "three"]) {
    const agent = await letta.agents.create({ name: `${MINE} ${name}`, model: MODEL, tags: [tag] });
    ids.push(agent.id);
  }
  const found = async (query) => (await all(letta.agents.list(query))).map((agent) => agent.id);
  assert.deepEqual(await found({ tags: [tag], limit: 1 }), [...ids].reverse());
  assert.deepEqual(await found({ tags: [tag], order: "asc", limit: 2 }), ids);
  assert.deepEqual(await found({ name: `${MINE} two` }), [ids[1]]);
  assert.deepEqual(await found({ query_text: `${MINE} THREE` }), [ids[2]]);
  const page = await letta.agents.list({ tags: [tag], order: "asc", after: ids[0], limit: 1 });
  assert.deepEqual(page.getPaginatedItems().map((agent) => agent.id), [ids[1]]);
  for (const id of ids) await letta.agents.delete(id);
});

check("agents: what is wrong is refused", async () => {
  await refused(letta.agents.create({ model: "openai/zzz" }), 404, "Handle openai/zzz not found");
  await refused(letta.agents.create({ model: MODEL, tools: ["no_tool"] }), 400, "Tools not found by name: {'no_tool'}");
  await refused(letta.agents.retrieve("agent-1"), 422, "string_pattern_mismatch");
});

check("blocks: they are shared, changed by label, and in the prompt", async () => {
  const block = await letta.blocks.create({ label: "team", value: "red" });
  await withAgent({ block_ids: [block.id] }, (first) =>
    withAgent({}, async (second) => {
      await letta.agents.blocks.attach(block.id, { agent_id: second.id });
      await letta.agents.blocks.update("team", { agent_id: first.id, value: "blue" });
      const read = await letta.agents.blocks.retrieve("team", { agent_id: second.id });
      assert.equal(read.value, "blue");
      assert.ok((await prompt(first.id)).includes("blue"));
      const users = await all(letta.blocks.agents.list(block.id));
      assert.deepEqual(users.map((agent) => agent.id), [second.id, first.id]);
      await letta.agents.blocks.detach(block.id, { agent_id: first.id });
      assert.deepEqual(await all(letta.agents.blocks.list(first.id)), []);
      await refused(
        letta.agents.blocks.retrieve("team", { agent_id: first.id }),
        404,
        `No block with label 'team' found for agent '${first.id}'`,
      );
    }),
  );
  assert.equal(await letta.blocks.delete(block.id), null);
  await refused(letta.blocks.retrieve(block.id), 404, `Block with id '${block.id}' not found`);
});

check("tools: they are attached, run and detached", () =>
  withTool({ source_code: OPEN_DOOR }, (tool) =>
    withAgent({}, async (agent) => {
      assert.equal(await letta.agents.tools.attach(tool.id, { agent_id: agent.id }), null);
      const names = async () => (await all(letta.agents.tools.list(agent.id))).map((each) => each.name);
      assert.deepEqual(await names(), ["open_door"]);
      const result = await letta.agents.tools.run("open_door", { agent_id: agent.id, args: { door: "a" } });
      assert.deepEqual([result.status, result.func_return], ["success", "a is open"]);
      assert.equal(await letta.agents.tools.detach(tool.id, { agent_id: agent.id }), null);
      assert.deepEqual(await names(), []);
      await refused(letta.agents.tools.attach(`tool-${UNKNOWN}`, { agent_id: agent.id }), 404, "not found");
    }),
  ));

check("models: the offline one is listed", async () => {
  const models = await letta.models.list();
  assert.ok(models.some((model) => model.handle === MODEL));
  assert.ok(Array.isArray(await letta.models.embeddings.list()));
});

check("passages: they are stored, searched and deleted", () =>
  withAgent({}, async (agent) => {
    const [passage] = await letta.agents.passages.create(agent.id, { text: "Ada keeps bees.", tags: ["pets"] });
    const found = await letta.agents.passages.search(agent.id, { query: "bees" });
    assert.deepEqual(found.results.map((result) => result.content), ["Ada keeps bees."]);
    await letta.agents.passages.delete(passage.id, { agent_id: agent.id });
    assert.deepEqual(await letta.agents.passages.list(agent.id), []);
  }));
