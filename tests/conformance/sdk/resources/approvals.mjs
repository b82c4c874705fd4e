// Calls that wait for a person, and calls that the client makes itself.

import assert from "node:assert/strict";

import { call, check, kinds, letta, only, OPEN_DOOR, refused, say, withAgent, withTool } from "./testing.mjs";
import { all } from "./testing.mjs";

const answer = (agentId, ...approvals) =>
  letta.agents.messages.create(agentId, { messages: [{ type: "approval", approvals }] });

async function asked(agentId, settings = {}) {
  const found = await say(agentId, call("open_door", { door: "front" }), settings);
  assert.equal(found.stop_reason.stop_reason, "requires_approval");
  return only(found.messages, "approval_request_message");
}

check("approvals: a call waits until it is approved or denied", () =>
  withTool({ source_code: OPEN_DOOR, default_requires_approval: true }, (tool) =>
    withAgent({ tool_ids: [tool.id] }, async (agent) => {
      const request = await asked(agent.id);
      const state = await letta.agents.retrieve(agent.id, { include: ["agent.pending_approval"] });
      assert.equal(state.pending_approval.id, request.id);
      await refused(say(agent.id, "Hi."), 409, "The agent is waiting for approval on a tool call.");
      const id = request.tool_call.tool_call_id;
      const approved = await answer(agent.id, { type: "approval", tool_call_id: id, approve: true });
      assert.deepEqual(kinds(approved.messages), ["tool_return_message", "assistant_message"]);
      assert.equal(approved.messages[0].tool_return, "front is open");
      const other = (await asked(agent.id)).tool_call.tool_call_id;
      const refusal = { type: "approval", tool_call_id: other, approve: false, reason: "It is late." };
      const denied = only((await answer(agent.id, refusal)).messages, "tool_return_message");
      const words = "Error: request to call tool denied. User reason: It is late.";
      assert.deepEqual([denied.status, denied.tool_return], ["error", words]);
    }),
  ));

check("approvals: they are switched on for an agent, and off", () =>
  withTool({ source_code: OPEN_DOOR }, (tool) =>
    withAgent({ tool_ids: [tool.id] }, async (agent) => {
      const rules = async () => (await letta.agents.retrieve(agent.id)).tool_rules.map((rule) => rule.type);
      // This client sends the field under the name that it is given, and its types have a wrong one.
      for (const on of [true, false]) {
        const params = { agent_id: agent.id, requires_approval: on };
        await letta.agents.tools.updateApproval(tool.name, params);
        assert.deepEqual(await rules(), on ? ["requires_approval"] : []);
      }
    }),
  ));

check("approvals: the client makes a call itself and gives its result", () =>
  withAgent({}, async (agent) => {
    const client_tools = [{ name: "open_door", description: "Opens.", parameters: { type: "object" } }];
    const request = await asked(agent.id, { client_tools });
    const { tool_call_id } = request.tool_call;
    const tool_returns = [{ type: "tool", tool_call_id, tool_return: "done", status: "success" }];
    const messages = [{ type: "tool_return", tool_returns }];
    const events = await all(letta.agents.messages.stream(agent.id, { messages }));
    assert.equal(only(events, "tool_return_message").tool_return, "done");
    assert.equal(events.at(-2).stop_reason, "end_turn");
  }));
