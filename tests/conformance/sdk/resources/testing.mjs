// Named checks, and what they share: the client, and agents and tools that go away.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";

const { Letta } = createRequire(`${process.env.NODE_FOLDER}/`)("@letta-ai/letta-client");

export const letta = new Letta({
  baseURL: process.env.BULKHEAD_URL,
  apiKey: "unused",
  maxRetries: 0,
});

export const MODEL = "bulkhead/scripted";

// What no one else has, where a server's lists are shared.
export const MINE = `n${randomUUID().slice(0, 8)}`;

export const UNKNOWN = "123e4567-e89b-42d3-8456-426614174000";

const checks = [];

/** A check with a name that says what holds. */
export const check = (what, run) => checks.push({ what, run });

/** Runs the checks whose name contains `only`; what failed. */
export async function runChecks(only) {
  const failures = [];
  for (const { what, run } of checks.filter(({ what }) => what.includes(only))) {
    const begun = performance.now();
    try {
      await run();
    } catch (error) {
      const place = /resources\/\w+\.mjs:\d+/g;
      const places = [...(error.stack ?? "").matchAll(place)].map(([found]) => found);
      failures.push(`${what}: ${places.join(" < ")}: ${error.message}`);
    }
    if (process.env.BULKHEAD_SHOW_CHECKS) {
      console.log(`${((performance.now() - begun) / 1000).toFixed(2)} s  ${what}`);
    }
  }
  return failures;
}

/** Does something with an agent with the offline model, which is deleted afterwards. */
export async function withAgent(settings, use) {
  const body = { model: MODEL, include_base_tools: false, ...settings };
  const agent = await letta.agents.create(body);
  try {
    return await use(agent);
  } finally {
    await letta.agents.delete(agent.id);
  }
}

/** Does something with a tool from Python source, which is deleted afterwards. */
export async function withTool(settings, use) {
  const tool = await letta.tools.upsert({ source_type: "python", ...settings });
  try {
    return await use(tool);
  } finally {
    await letta.tools.delete(tool.id);
  }
}

export const COUNT_WORDS = `
def count_words(text: str) -> int:
    """
    Count words.

    Args:
        text (str): What is counted.
    """
    return len(text.split())
`;

export const OPEN_DOOR = `
def open_door(door: str) -> str:
    """
    Open a door.

    Args:
        door (str): Which one.
    """
    return f"{door} is open"
`;

export const say = (agentId, input, settings = {}) =>
  letta.agents.messages.create(agentId, { input, ...settings });

/** A line that has the offline model call a tool. */
export const call = (name, args) => `call ${name} with ${JSON.stringify(args)}`;

export const kinds = (messages) => messages.map((message) => message.message_type);

export function only(messages, kind) {
  const found = messages.filter((message) => message.message_type === kind);
  assert.equal(found.length, 1, `messages of type ${kind} in ${kinds(messages)}`);
  return found[0];
}

/** A message's text, whichever of its two forms it has. */
export const textOf = ({ content }) =>
  typeof content === "string" ? content : content.map((part) => part.text).join("");

export async function all(iterable) {
  const found = [];
  for await (const item of await iterable) found.push(item);
  return found;
}

/** All messages of an agent, the oldest first. */
export const history = (agentId, query = {}) =>
  all(letta.agents.messages.list(agentId, { order: "asc", ...query }));

export async function refused(promise, status, words) {
  await assert.rejects(Promise.resolve(promise), (error) => {
    const told = `${error.message} ${error.error?.detail}`;
    assert.equal(error.status, status, told);
    assert.ok(told.includes(words), told);
    return true;
  });
}

/** Waits for a condition; what it gave. */
export async function until(what, condition) {
  const end = performance.now() + 20_000;
  for (;;) {
    const found = await condition();
    if (found) return found;
    assert.ok(performance.now() < end, what);
    await new Promise((done) => setTimeout(done, 50));
  }
}
