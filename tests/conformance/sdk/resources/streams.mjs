// Streams of whole messages and of pieces; runs in the background; conversations.

import assert from "node:assert/strict";

import { all, call, check, COUNT_WORDS, history, kinds, letta, MODEL, OPEN_DOOR, textOf } from "./testing.mjs";
import { until, withAgent, withTool } from "./testing.mjs";

export const ENDS = ["ping", "stop_reason", "usage_statistics"];
const CALLS = ["tool_call_message", "approval_request_message"];

/** The messages of a stream, whose frame is checked. */
export function wellFormed(events) {
  const types = kinds(events);
  assert.equal(types[0], "ping", `${types}`);
  assert.ok(events[0].run_id.startsWith("run-"));
  assert.deepEqual(types.slice(-2), ["stop_reason", "usage_statistics"], `${types}`);
  for (const type of ENDS.slice(1)) assert.equal(types.filter((each) => each === type).length, 1);
  return events.filter((event) => !ENDS.includes(event.message_type));
}

function content(message) {
  if (message.message_type === "reasoning_message") return message.reasoning;
  if (message.message_type === "assistant_message") return textOf(message);
  if (CALLS.includes(message.message_type)) {
    return message.tool_calls.map((call) => [call.tool_call_id, call.name, call.arguments]);
  }
  return message.tool_returns.map((each) => [each.tool_call_id, each.status, each.tool_return]);
}

/** What is equal in an answer, a stream and a list. */
export const seen = (messages) =>
  messages.map((each) => [each.message_type, each.id, each.otid, each.step_id, each.run_id, content(each)]);

/** What the list has of one run, without what the user said. */
export async function stored(agentId, runId) {
  const hidden = ["user_message", "system_message", "approval_response_message"];
  const messages = await history(agentId);
  return seen(messages.filter((each) => each.run_id === runId && !hidden.includes(each.message_type)));
}

/** Messages put together from pieces, in the form of `seen`. */
export function assembled(messages) {
  const parts = new Map();
  for (const message of messages) {
    const { message_type: type, id, otid, step_id, run_id } = message;
    const key = [type, id, otid].join(" ");
    if (!parts.has(key)) parts.set(key, { head: [type, id, otid, step_id, run_id], text: "", calls: new Map() });
    const part = parts.get(key);
    if (CALLS.includes(type)) {
      const delta = message.tool_call;
      assert.ok(!Array.isArray(message.tool_calls));
      assert.deepEqual(message.tool_calls, delta);
      if (!part.calls.has(delta.tool_call_id)) {
        assert.ok(delta.name, "the first piece of a call has its name");
        part.calls.set(delta.tool_call_id, [delta.name, ""]);
      }
      part.calls.get(delta.tool_call_id)[1] += delta.arguments ?? "";
    } else if (type === "tool_return_message") part.text = content(message);
    else part.text += content(message);
  }
  return [...parts.values()].map(({ head, text, calls }) => {
    const list = [...calls].map(([id, [name, args]]) => [id, name, args]);
    return [...head, list.length > 0 ? list : text];
  });
}

export const streamed = (agentId, input, settings = {}) =>
  all(letta.agents.messages.stream(agentId, { input, ...settings }));

const TURN = `think I count.\nsay Counting.\n${call("count_words", { text: "a b c" })}\nthen\nsay Three.`;

check("streams: steps and tokens make the messages that the list has", () =>
  withTool({ source_code: COUNT_WORDS }, (tool) =>
    withAgent({ tool_ids: [tool.id] }, async (agent) => {
      const steps = await streamed(agent.id, TURN);
      const messages = wellFormed(steps);
      const expected = ["reasoning_message", "assistant_message", "tool_call_message"];
      assert.deepEqual(kinds(messages), [...expected, "tool_return_message", "assistant_message"]);
      assert.deepEqual(seen(messages), await stored(agent.id, steps[0].run_id));
      const tokens = await streamed(agent.id, TURN, { stream_tokens: true });
      const pieces = wellFormed(tokens);
      assert.ok(pieces.length > messages.length);
      assert.deepEqual(assembled(pieces), await stored(agent.id, tokens[0].run_id));
      assert.equal(tokens.at(-1).step_count, 2);
    }),
  ));

check("streams: a call that waits comes in pieces with the list's ids", () =>
  withTool({ source_code: OPEN_DOOR, default_requires_approval: true }, (tool) =>
    withAgent({ tool_ids: [tool.id] }, async (agent) => {
      const ask = `say Opening.\n${call("open_door", { door: "front" })}`;
      const events = await streamed(agent.id, ask, { stream_tokens: true });
      const pieces = assembled(wellFormed(events));
      assert.equal(events.at(-2).stop_reason, "requires_approval");
      const request = pieces.at(-1);
      assert.deepEqual([request[0], request[1]], ["approval_request_message", request[2]]);
      const listed = await stored(agent.id, events[0].run_id);
      assert.deepEqual(listed.filter((each) => each[0] === request[0]), [request]);
    }),
  ));

check("streams: a failure is an error of the stream", () =>
  withAgent({}, async (agent) => {
    const events = [];
    await assert.rejects(
      async () => {
        const body = { input: "fail rate_limit" };
        for await (const event of await letta.agents.messages.stream(agent.id, body)) events.push(event);
      },
      (error) => error.message.includes("Rate limit exceeded for LLM model provider."),
    );
    assert.deepEqual(kinds(events), ["ping", "stop_reason"]);
    const run = await letta.runs.retrieve(events[0].run_id);
    assert.deepEqual([run.status, run.metadata.error.error_type], ["failed", "llm_rate_limit"]);
  }));

check("streams: a run in the background is streamed again", () =>
  withAgent({}, async (agent) => {
    const events = await streamed(agent.id, "think Hm.\nsay Hi.", { background: true });
    const messages = events.filter((event) => !ENDS.includes(event.message_type));
    assert.deepEqual(messages.map((message) => message.seq_id), [2, 3]);
    const { run_id: runId } = events[0];
    await until("the run ends", async () => (await letta.runs.retrieve(runId)).status === "completed");
    const rest = await all(letta.runs.messages.stream(runId, { starting_after: 2 }));
    assert.deepEqual(kinds(rest), ["assistant_message", "stop_reason", "usage_statistics"]);
  }));

check("conversations: they are made, talked in, listed and deleted", () =>
  withAgent({}, async (agent) => {
    const made = await letta.conversations.create({ agent_id: agent.id, summary: "First" });
    assert.deepEqual([made.agent_id, made.summary], [agent.id, "First"]);
    const events = await all(letta.conversations.messages.create(made.id, { input: "say Inside.", stream_tokens: true }));
    assert.deepEqual(assembled(wellFormed(events)).map((each) => each.at(-1)), ["Inside."]);
    const page = await letta.conversations.messages.list(made.id);
    assert.deepEqual(kinds(page.getPaginatedItems()), ["assistant_message", "user_message", "system_message"]);
    const own = await history(agent.id, { conversation_id: "default" });
    assert.deepEqual(kinds(own), ["system_message"]);
    const forked = await letta.conversations.fork(made.id);
    assert.equal(forked.agent_id, agent.id);
    const changed = await letta.conversations.update(made.id, { model: MODEL, summary: "Other" });
    assert.deepEqual([changed.summary, changed.model], ["Other", MODEL]);
    const listed = await letta.conversations.list({ agent_id: agent.id });
    assert.deepEqual(listed.map((each) => each.id), [forked.id, made.id]);
    await letta.conversations.delete(made.id);
    await assert.rejects(letta.conversations.retrieve(made.id), (error) => error.status === 404);
  }));
