"""Agents as files: out of the server, and into it again."""

from __future__ import annotations

import io
import json

from .functions import count_words
from .testing import MODEL, agent, block_value, call, check, equal, history, holds, letta, only
from .testing import prompt, refused, say, tools


def imported(document: object, **settings: object):
    """The one agent of a document, as it is then."""
    file = io.BytesIO(json.dumps(document).encode())
    answer = letta.agents.import_file(file=("ada.af", file), **settings)
    equal(len(answer.agent_ids), 1, "one agent")
    return letta.agents.retrieve(answer.agent_ids[0], include=["agent.secrets", "agent.tools", "agent.tags"])


@check("an agent is exported, and its copy goes on where it was")
def there_and_back() -> None:
    with tools(count_words) as (counts,):
        settings = {
            "name": "Ada",
            "memory_blocks": [{"label": "human", "value": "Name: Ada"}],
            "tool_ids": [counts.id],
            "tags": ["filed"],
            "secrets": {"CITY": "Berlin"},
        }
        with agent(**settings) as made:
            say(made.id, call(counts.name, text="a b c"))
            text = letta.agents.export_file(made.id)
            holds(isinstance(text, str) and text.startswith("{\n"), "the client's type: indented JSON as a text")
            holds("Berlin" not in text and made.id not in json.loads(text)["agents"][0]["id"], "what stays behind")
            document = json.loads(text)
            copy = imported(document, secrets=json.dumps({"CITY": "Rome"}))
            try:
                equal((copy.name, copy.model, copy.tags), ("Ada_copy", MODEL, ["filed"]), "the copy")
                equal([(one.key, one.value) for one in copy.secrets], [("CITY", "Rome")], "the secret")
                equal([tool.id for tool in copy.tools], [counts.id], "the tool of this name")
                equal(block_value(copy.id, "human"), "Name: Ada", "the memory")
                holds(f"- AGENT_ID: {copy.id}" in prompt(copy.id), "the prompt names the copy")
                kinds = [message.message_type for message in history(made.id)]
                equal([message.message_type for message in history(copy.id)], kinds, "the history")
                answer = say(copy.id, call(counts.name, text="a b"))
                equal(only(answer.messages, "tool_return_message").tool_return, "2", "the tool runs")
            finally:
                letta.agents.delete(copy.id)


@check("what the client says of an import counts over the file")
def overridden() -> None:
    with agent(name="Ada") as made:
        document = json.loads(letta.agents.export_file(made.id, scrub_messages=True))
        equal(document["agents"][0]["messages"], [], "no messages")
        for settings, name in (
            ({"name": "Bo", "model": MODEL, "override_existing_tools": False}, "Bo"),
            ({"override_name": "Cy", "override_model_handle": MODEL}, "Cy"),
            ({"append_copy_suffix": False, "strip_messages": True}, "Ada"),
        ):
            copy = imported(document, **settings)
            equal(copy.name, name, f"the name with {settings}")
            letta.agents.delete(copy.id)
        # The client's own type of a document is a text.
        copy = imported(json.dumps(document))
        equal(len(copy.message_ids), 1, "the system prompt alone")
        letta.agents.delete(copy.id)


@check("files that are none are refused in the words that clients know")
def no_files() -> None:
    def send(text: str, **settings: object):
        return lambda: letta.agents.import_file(file=text.encode(), **settings)

    refused(send("no JSON"), 400, "Corrupted agent file format.", "no JSON")
    refused(send("{}"), 400, "AgentFileSchema format with 'agents' field", "another format")
    refused(send('{"agents": []}'), 400, "tools: Field required", "missing lists")
    with agent() as made:
        text = letta.agents.export_file(made.id)
        refused(send(text, secrets="[]"), 400, "secrets must be a valid JSON string", "no object of secrets")
        refused(send(text, model="openai/none"), 404, "openai/none", "an unknown model")
        broken = text.replace('"message-0"', '"message-x"', 1)
        refused(send(broken), 400, "Schema validation failed", "ids")
        legacy = lambda: letta.agents.export_file(made.id, use_legacy_format=True)  # noqa: E731
        refused(legacy, 400, "Legacy format is not supported", "the older format")
