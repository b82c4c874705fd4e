// @letta-ai/letta-client 1.12.1, with agents of the server that BULKHEAD_URL names; each file in
// resources/ checks one thing that a server has. The client's package is in the folder that
// NODE_FOLDER names.
//
//   agents.mjs [PART OF NAMES OF CHECKS]
//
// BULKHEAD_SHOW_CHECKS has each check told with its time. Where FAKE_OPENAI names the address of the
// tests' own providers, which the server must know, agents with their models are checked too.

import "./resources/agents.mjs";
import "./resources/messages.mjs";
import "./resources/streams.mjs";
import "./resources/approvals.mjs";
import "./resources/runs.mjs";
import "./resources/files.mjs";
import "./resources/folders.mjs";
import { runChecks } from "./resources/testing.mjs";

if (process.env.FAKE_OPENAI) await import("./resources/vendors.mjs");

const failed = await runChecks(process.argv[2] ?? "");
if (failed.length > 0) {
  console.error(failed.join("\n"));
  process.exit(1);
}
