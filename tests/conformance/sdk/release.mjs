// @letta-ai/letta-client 1.12.1, against the server that BULKHEAD_URL names. The client's package
// is in the folder that NODE_FOLDER names, since modules are looked for beside the module that names
// them and nothing is installed beside this one.

import assert from "node:assert/strict";
import { createRequire } from "node:module";

const { Letta } = createRequire(`${process.env.NODE_FOLDER}/`)("@letta-ai/letta-client");
const letta = new Letta({ baseURL: process.env.BULKHEAD_URL, apiKey: "unused", maxRetries: 0 });

const PYTHON = `
def double(number: int) -> int:
    """
    Doubles.

    Args:
        number (int): What is doubled.
    """
    return number * 2
`;

const TYPESCRIPT = `
export function greet(name: string, loud?: boolean): string {
  return loud ? name.toUpperCase() : name;
}
`;

const GREET = {
  name: "greet",
  description: "Greets.",
  parameters: {
    type: "object",
    properties: { name: { type: "string" }, loud: { type: "boolean" } },
    required: ["name"],
  },
};

const run = (body) => letta.post("/v1/tools/run", { body });

const refused = (call, status, words) =>
  assert.rejects(call, (error) => {
    assert.equal(error.status, status, error.message);
    assert.ok(error.message.includes(words), error.message);
    return true;
  });

async function python() {
  const tool = await letta.tools.create({ source_code: PYTHON, tags: ["numbers"] });
  assert.equal(tool.name, "double");
  assert.deepEqual(tool.json_schema.parameters, {
    type: "object",
    properties: { number: { type: "integer", description: "What is doubled." } },
    required: ["number"],
  });
  const again = await letta.tools.upsert({ source_code: PYTHON });
  assert.equal(again.id, tool.id);
  assert.deepEqual(again.tags, []);
  const message = await run({ source_code: PYTHON, args: { number: 21 }, name: "double" });
  assert.equal(message.tool_return, "42", JSON.stringify(message));
  await letta.tools.delete(tool.id);
}

async function typescript() {
  const body = { source_code: TYPESCRIPT, source_type: "typescript" };
  await refused(letta.tools.create(body), 422, "TypeScript tools require an explicit json_schema parameter.");
  const tool = await letta.tools.create({ ...body, json_schema: GREET });
  assert.deepEqual([tool.name, tool.source_type, tool.tool_type], ["greet", "typescript", "custom"]);
  assert.deepEqual(await letta.tools.retrieve(tool.id), tool);
  const changed = await letta.tools.update(tool.id, { description: "Other.", return_char_limit: 9 });
  assert.deepEqual([changed.id, changed.description, changed.return_char_limit], [tool.id, "Other.", 9]);
  assert.deepEqual(changed.json_schema, GREET);
  const message = await run({ ...body, json_schema: GREET, args: { loud: true, name: "ada" } });
  assert.deepEqual([message.status, message.tool_return], ["success", "ADA"], JSON.stringify(message));
  assert.equal(await letta.tools.delete(tool.id), null);
  await refused(letta.tools.retrieve(tool.id), 404, "Tool not found with id=");
}

async function lists() {
  const names = ["list_a", "list_b", "list_c"];
  const ids = [];
  for (const name of names) {
    const tool = await letta.tools.create({
      source_code: TYPESCRIPT,
      source_type: "typescript",
      json_schema: { ...GREET, name },
    });
    ids.push(tool.id);
  }
  const found = async (query) => {
    const all = [];
    for await (const tool of letta.tools.list({ names, ...query })) all.push(tool.name);
    return all;
  };
  assert.deepEqual(await found({ limit: 2 }), [...names].reverse());
  assert.deepEqual(await found({ limit: 1, order: "asc" }), names);
  const page = await letta.tools.list({ order: "asc", after: ids[0], limit: 1 });
  assert.deepEqual(page.getPaginatedItems().map((tool) => tool.name), ["list_b"]);
  assert.deepEqual(await found({ exclude_tool_types: ["custom"] }), []);
  assert.equal(await letta.get("/v1/tools/count", { query: { names } }), names.length);
  for (const id of ids) await letta.tools.delete(id);
}

async function refusals() {
  await refused(letta.tools.upsert({ source_code: "x = 1" }), 400, "No functions found in source code");
  await refused(letta.tools.upsert({ source_code: 3 }), 422, "'loc': ('body', 'source_code')");
  await refused(letta.tools.retrieve("abc"), 422, "string_pattern_mismatch");
}

await python();
await typescript();
await lists();
await refusals();
