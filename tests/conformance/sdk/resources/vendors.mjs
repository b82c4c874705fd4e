// Agents with models of each vendor's wire format, against providers that answer as tests expect.

import assert from "node:assert/strict";

import { check, kinds, refused, say, textOf, withAgent, withTool } from "./testing.mjs";
import { assembled, seen, stored, streamed, wellFormed } from "./streams.mjs";

const LOOK_UP = `
def look_up(place: str) -> str:
    """
    Look up the weather.

    Args:
        place (str): Where.
    """
    return {"Paris": "sun", "Rome": "rain"}[place]
`;

const ASK = "Look up Paris and Rome.";

// Whether the vendor tells what its model thinks.
const MODELS = {
  "openai/gpt-4o-mini": false,
  "openai/gpt-5-mini": true,
  "anthropic/claude-sonnet-4-5-20250929": true,
  "google_ai/gemini-2.5-flash": true,
};

const WAYS = {
  "as a whole": async (id) => seen((await say(id, ASK)).messages),
  "by step": async (id) => seen(wellFormed(await streamed(id, ASK))),
  "by token": async (id) => assembled(wellFormed(await streamed(id, ASK, { stream_tokens: true }))),
};

const expected = (reasons) => [
  ...(reasons ? ["I must look at both."] : []),
  "Looking.",
  ...(reasons ? ["Now I know."] : []),
  "Paris: sun; Rome: rain.",
];

const talk = (model, reasons, ask) =>
  withTool({ source_code: LOOK_UP }, async (tool) => {
    const memory_blocks = [{ label: "human", value: "Name: Ada" }];
    const settings = { model, tool_ids: [tool.id], memory_blocks, parallel_tool_calls: true };
    await withAgent(settings, async (agent) => {
      const messages = await ask(agent.id);
      const texts = messages.map((message) => message.at(-1)).filter((each) => typeof each === "string");
      assert.deepEqual(texts, expected(reasons));
      const contentOf = (type) => messages.find((message) => message[0] === type).at(-1);
      const calls = contentOf("tool_call_message");
      assert.deepEqual(
        calls.map(([, name, args]) => [name, JSON.parse(args)]),
        [["look_up", { place: "Paris" }], ["look_up", { place: "Rome" }]],
      );
      assert.deepEqual(
        contentOf("tool_return_message"),
        [[calls[0][0], "success", "sun"], [calls[1][0], "success", "rain"]],
      );
      assert.deepEqual(messages, await stored(agent.id, messages[0][4]));
      const answer = await say(agent.id, "Thank you.");
      assert.equal(textOf(answer.messages.at(-1)), "You are welcome.");
    });
  });

for (const [model, reasons] of Object.entries(MODELS)) {
  for (const [way, ask] of Object.entries(WAYS)) {
    check(`vendors: ${model}: a talk with two calls at once, ${way}`, () => talk(model, reasons, ask));
  }
  check(`vendors: ${model}: a key that the provider does not know`, () =>
    withAgent({ model }, async (agent) => {
      await refused(say(agent.id, "Refuse me."), 401, "llm_authentication");
      const { messages } = await say(agent.id, "Thank you.");
      assert.equal(kinds(messages).at(-1), "assistant_message");
    }),
  );
}
