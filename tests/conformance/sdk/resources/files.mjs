// Agents as files: out of the server, and into it again.

import assert from "node:assert/strict";

import { check, letta, refused, withAgent } from "./testing.mjs";

const file = (text) => new File([text], "ada.af");

check("files: an agent is exported, and its copy is imported", () =>
  withAgent({ name: "Ada", tags: ["filed"], secrets: { CITY: "Berlin" } }, async (agent) => {
    const exported = await letta.agents.exportFile(agent.id);
    // The client gives the parsed document, whatever its type says.
    const document = typeof exported === "string" ? exported : JSON.stringify(exported);
    assert.ok(!document.includes("Berlin"));
    const secrets = JSON.stringify({ CITY: "Rome" });
    const { agent_ids } = await letta.agents.importFile({ file: file(document), name: "Bo", secrets });
    assert.equal(agent_ids.length, 1);
    const include = ["agent.secrets", "agent.tags"];
    const copy = await letta.agents.retrieve(agent_ids[0], { include });
    assert.deepEqual([copy.name, copy.tags, copy.secrets[0].value], ["Bo", ["filed"], "Rome"]);
    await letta.agents.delete(copy.id);
  }));

check("files: what is none is refused", () =>
  refused(letta.agents.importFile({ file: file("no JSON") }), 400, "Corrupted agent file format."));
