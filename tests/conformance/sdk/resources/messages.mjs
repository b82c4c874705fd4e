// Messages that are answered as a whole; lists; what keeps an agent going.

import assert from "node:assert/strict";

import { all, call, check, COUNT_WORDS, history, kinds, letta, refused, say, textOf } from "./testing.mjs";
import { withAgent, withTool } from "./testing.mjs";

check("messages: a text is answered, with usage and a stop reason", () =>
  withAgent({}, async (agent) => {
    const answer = await say(agent.id, "think Early.\nsay Good morning.");
    assert.deepEqual(kinds(answer.messages), ["reasoning_message", "assistant_message"]);
    const [thought, said] = answer.messages;
    assert.deepEqual([thought.reasoning, textOf(said)], ["Early.", "Good morning."]);
    assert.equal(thought.id, said.id);
    assert.notEqual(thought.otid, said.otid);
    assert.equal(answer.stop_reason.stop_reason, "end_turn");
    assert.equal(answer.usage.step_count, 1);
    assert.equal(answer.usage.total_tokens, answer.usage.prompt_tokens + answer.usage.completion_tokens);
  }));

check("messages: a tool is called and its result comes back", () =>
  withTool({ source_code: COUNT_WORDS }, (tool) =>
    withAgent({ tool_ids: [tool.id] }, async (agent) => {
      const answer = await say(agent.id, call("count_words", { text: "a b c" }));
      const expected = ["tool_call_message", "tool_return_message", "assistant_message"];
      assert.deepEqual(kinds(answer.messages), expected);
      const [called, returned] = answer.messages;
      assert.equal(called.tool_call.name, "count_words");
      assert.deepEqual([returned.status, returned.tool_return], ["success", "3"]);
      assert.equal(returned.tool_call_id, called.tool_call.tool_call_id);
    }),
  ));

check("messages: the default list is the newest window, the oldest first", () =>
  withAgent({}, async (agent) => {
    for (const word of ["One", "Two", "Three"]) await say(agent.id, `say ${word}.`);
    const ids = (await history(agent.id, { limit: 2 })).map((message) => message.id);
    assert.equal(ids.length, 7);
    const found = async (query) => {
      const page = await letta.agents.messages.list(agent.id, query);
      return page.getPaginatedItems().map((message) => message.id);
    };
    assert.deepEqual(await found({}), ids);
    assert.deepEqual(await found({ limit: 2 }), ids.slice(-2));
    assert.deepEqual(await found({ limit: 2, before: ids[5] }), ids.slice(3, 5));
    assert.deepEqual(await found({ after: ids[4] }), ids.slice(5));
    const own = await all(letta.agents.messages.list(agent.id, { limit: 2 }));
    assert.deepEqual(own.map((message) => message.id), ids.slice(-2));
  }));

check("messages: what can't be sent is refused", () =>
  withAgent({}, async (agent) => {
    const create = (body) => letta.agents.messages.create(agent.id, body);
    await refused(create({}), 422, "Must specify either 'input' or 'messages'.");
    await refused(create({ messages: [] }), 422, "Messages must not be empty");
    await refused(create({ input: "Hi.", override_model: "openai/zzz" }), 404, "Handle openai/zzz not found");
    const stream = letta.agents.messages.stream(agent.id, { input: "Hi.", override_model: "openai/zzz" });
    await refused(stream, 404, "Handle openai/zzz not found");
    await refused(create({ input: "fail rate_limit" }), 429, "llm_rate_limit");
    assert.deepEqual(kinds(await history(agent.id)), ["system_message"]);
  }));

check("messages: a history is compacted and reset, a prompt compiled anew", () =>
  withAgent({ system: "Be brief." }, async (agent) => {
    for (const word of ["One", "Two", "Three", "Four"]) await say(agent.id, `say ${word}.`);
    const settings = { compaction_settings: { mode: "all" } };
    const done = await letta.agents.messages.compact(agent.id, settings);
    assert.deepEqual([done.num_messages_before, done.num_messages_after], [9, 2]);
    await letta.agents.update(agent.id, { system: "Be long." });
    const text = await letta.agents.recompile(agent.id, { dry_run: true });
    assert.ok(text.includes("Be long."));
    const state = await letta.agents.messages.reset(agent.id, { add_default_initial_messages: false });
    assert.equal(state.message_ids.length, 1);
    assert.deepEqual(kinds(await history(agent.id)), ["system_message"]);
  }));
