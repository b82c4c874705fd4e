// Runs, their steps, and how they are cancelled.

import assert from "node:assert/strict";

import { all, check, history, kinds, letta, refused, say, until, withAgent } from "./testing.mjs";
import { streamed } from "./streams.mjs";

check("runs: one has messages, steps, usage and a trace", () =>
  withAgent({}, async (agent) => {
    const answer = await say(agent.id, "say Yes.");
    const [said] = answer.messages;
    const run = await letta.runs.retrieve(said.run_id);
    assert.deepEqual([run.agent_id, run.status, run.stop_reason], [agent.id, "completed", "end_turn"]);
    assert.deepEqual((await all(letta.runs.list({ agent_id: agent.id }))).map((each) => each.id), [run.id]);
    const messages = await all(letta.runs.messages.list(run.id));
    assert.deepEqual(kinds(messages), ["user_message", "assistant_message"]);
    const steps = await all(letta.runs.steps.list(run.id));
    assert.deepEqual(steps.map((step) => step.id), [said.step_id]);
    const usage = await letta.runs.usage.retrieve(run.id);
    assert.equal(usage.total_tokens, answer.usage.total_tokens);
    const step = await letta.steps.retrieve(said.step_id);
    assert.equal(step.model_handle, "bulkhead/scripted");
    const trace = await letta.steps.trace.retrieve(step.id);
    assert.ok(JSON.stringify(trace.response_json).includes("Yes."));
    const rated = await letta.steps.feedback.create(step.id, { feedback: "negative" });
    assert.equal(rated.feedback, "negative");
    await refused(letta.runs.retrieve("abc"), 400, "Invalid run ID format: abc.");
  }));

check("runs: one is cancelled while its model thinks", () =>
  withAgent({}, async (agent) => {
    const stream = streamed(agent.id, "wait 20s\nsay Late.", { stream_tokens: true });
    const [run] = await until("a run", async () => {
      const runs = await all(letta.runs.list({ agent_id: agent.id, active: true }));
      return runs.length > 0 && runs;
    });
    assert.deepEqual(await letta.agents.messages.cancel(agent.id), { [run.id]: "cancelled" });
    const events = await stream;
    assert.equal(events.find((event) => event.message_type === "stop_reason").stop_reason, "cancelled");
    await until("its end", async () => (await letta.runs.retrieve(run.id)).status === "cancelled");
    assert.deepEqual(kinds(await history(agent.id)), ["system_message"]);
    assert.deepEqual(kinds((await say(agent.id, "say Fine.")).messages), ["assistant_message"]);
  }));

check("runs: a request that is done later", () =>
  withAgent({}, async (agent) => {
    const run = await letta.agents.messages.createAsync(agent.id, { input: "say Later." });
    assert.deepEqual([run.status, run.background], ["created", true]);
    await until("its end", async () => (await letta.runs.retrieve(run.id)).status === "completed");
  }));
