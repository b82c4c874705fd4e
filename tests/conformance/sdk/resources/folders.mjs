// Folders, their files, and agents that read them.

import assert from "node:assert/strict";

import { all, check, letta, refused, until, withAgent } from "./testing.mjs";

const embedding_config = {
  embedding_endpoint_type: "openai", embedding_model: "m", embedding_dim: 8,
};

check("folders: an agent reads the files of a folder", () =>
  withAgent({}, async (agent) => {
    const name = `docs-${agent.id}`;
    const folder = await letta.folders.create({ name, embedding_config });
    try {
      await refused(letta.folders.create({ name, embedding_config }), 409, "");
      const file = new File(["hello\nworld\n"], "a.txt");
      const sent = await letta.folders.files.upload(folder.id, { file });
      assert.equal(sent.file_name, `${name}/a.txt`);
      await until("a file is read", async () => {
        const [listed] = await all(letta.folders.files.list(folder.id));
        return listed.processing_status === "completed";
      });
      await letta.agents.folders.attach(folder.id, { agent_id: agent.id });
      const files = await all(letta.agents.files.list(agent.id));
      assert.deepEqual(files.map((each) => [each.file_name, each.is_open]), [[`${name}/a.txt`, true]]);
      await letta.agents.files.closeAll(agent.id);
      await letta.agents.folders.detach(folder.id, { agent_id: agent.id });
    } finally {
      await letta.folders.delete(folder.id);
    }
  }));
