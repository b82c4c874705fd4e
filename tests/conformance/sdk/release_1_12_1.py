"""letta-client 1.12.1: tools are sent as source."""

from __future__ import annotations

from checks import client, equal, holds, listing, refused, run

letta = client()

SOURCE = '''
from typing import List, Optional


def helper(words):
    return " ".join(words)


def shout(words: List[str], mark: Optional[str] = None, agent_state=None) -> str:
    """
    Say it loudly.

    Args:
        words (List[str]): What to say.
        mark (Optional[str]): What it ends with.
    """
    print("shouting")
    return helper(words).upper() + (mark or "!")
'''

TYPESCRIPT = """
export async function add(left: number, right: number = 1): Promise<number> {
  console.log("adding", left);
  return left + right;
}
"""


def python() -> None:
    tool = letta.tools.create(source_code=SOURCE, tags=["loud"], return_char_limit=100)
    equal((tool.name, tool.description, tool.tags), ("shout", "Say it loudly.", ["loud"]), "a new tool")
    expected = {
        "type": "object",
        "required": ["words"],
        "properties": {
            "words": {"type": "array", "items": {"type": "string"}, "description": "What to say."},
            "mark": {"type": "string", "description": "What it ends with."},
        },
    }
    equal(tool.json_schema["parameters"], expected, "the derived schema")
    again = letta.tools.upsert(source_code=SOURCE, enable_parallel_execution=True)
    equal((again.id, again.tags, again.enable_parallel_execution), (tool.id, [], True), "an upsert")
    equal(letta.tools.retrieve(tool.id), again, "a tool that is read")
    changed = letta.tools.update(tool.id, source_code=SOURCE.replace("upper", "title"))
    equal(changed.json_schema, tool.json_schema, "the schema of changed source")
    message = run(letta, source_code=changed.source_code, args={"words": ["a", "b"]}, name="shout")
    equal((message["status"], message["tool_return"]), ("success", "A B!"), "the tool, run")
    equal((message["stdout"], message["stderr"]), (["shouting\n"], []), "what it printed")
    equal((message["id"], message["message_type"]), ("null", "tool_return_message"), "the message")
    failed = run(letta, source_code=SOURCE, args={"words": 3}, name="shout")
    equal(failed["status"], "error", "arguments of wrong types")
    holds("words" in failed["tool_return"], f"what was wrong: {failed['tool_return']}")
    letta.tools.delete(tool.id)


def typescript() -> None:
    needs = "TypeScript tools require an explicit json_schema parameter."
    create = letta.tools.create
    refused(lambda: create(source_code=TYPESCRIPT, source_type="typescript"), 422, needs, "no schema")
    body = {"code": TYPESCRIPT, "source_type": "typescript"}
    schema = letta.post("/v1/tools/generate-schema", body=body, cast_to=dict[str, object])
    equal((schema["name"], schema["parameters"]["required"]), ("add", ["left"]), "the generated schema")
    tool = create(source_code=TYPESCRIPT, source_type="typescript", json_schema=schema)
    equal((tool.name, tool.source_type, tool.json_schema), ("add", "typescript", schema), "a new tool")
    message = run(letta, source_code=TYPESCRIPT, source_type="typescript", args={"left": 2}, json_schema=schema)
    equal((message["tool_return"], message["stdout"]), ("3", ["adding 2\n"]), "the tool, run")
    letta.tools.delete(tool.id)


def refusals() -> None:
    upsert = letta.tools.upsert
    refused(lambda: upsert(source_code="x = 1"), 400, "No functions found in source code", "no function")
    refused(lambda: upsert(source_code="def f(:"), 400, "Failed to parse source code: invalid syntax", "syntax")
    refused(lambda: upsert(source_code=3), 422, "'loc': ('body', 'source_code')", "a wrong type")
    refused(lambda: upsert(source_code="x", return_char_limit=0), 422, "greater than or equal to 1", "a limit")
    refused(lambda: letta.tools.retrieve("abc"), 422, "tool-123e4567-e89b-42d3-8456-426614174000", "no id")
    refused(lambda: letta.tools.search(query="dice"), 400, "Tool search requires tool embedding", "a search")


python()
typescript()
refusals()
listing(letta, ["list_a", "list_b", "list_c"])
