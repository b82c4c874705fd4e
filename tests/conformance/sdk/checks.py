"""What the scripts of both releases share: a client, and checks that say what was there instead."""

from __future__ import annotations

import os
import sys

from letta_client import APIStatusError, Letta


def client() -> Letta:
    """A client of the server under test; it sends a refused request once."""
    return Letta(base_url=os.environ["BULKHEAD_URL"], api_key="unused", max_retries=0, timeout=120)


def equal(found: object, expected: object, what: str) -> None:
    """Ends the script where two values differ."""
    if found != expected:
        sys.exit(f"{what}: expected {expected!r}, found {found!r}")


def holds(condition: object, what: str) -> None:
    """Ends the script where something does not hold."""
    if not condition:
        sys.exit(f"{what}: does not hold")


def refused(call, status: int, words: str, what: str) -> None:
    """Ends the script unless the call is refused with this status and these words."""
    try:
        answer = call()
    except APIStatusError as error:
        holds(error.status_code == status and words in str(error), f"{what}: {error}")
    else:
        sys.exit(f"{what}: was not refused but gave {answer!r}")


def run(letta: Letta, **body: object) -> dict:
    """Runs source without saving it, for which the client has no method."""
    return letta.post("/v1/tools/run", body=body, cast_to=dict[str, object])


def listing(letta: Letta, names: list[str]) -> None:
    """Pages and filters of lists, over three tools in the order of their making, which are deleted."""
    source = "function f(a) { return a }"
    parameters = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    ids = []
    for name in names:
        schema = {"name": name, "description": "Gives back.", "parameters": parameters}
        tool = letta.tools.create(source_code=source, source_type="javascript", json_schema=schema)
        ids.append(tool.id)
    found = [tool.name for tool in letta.tools.list(names=names, limit=2)]
    equal(found, names[::-1], "a list goes through its pages, the newest first")
    found = [tool.name for tool in letta.tools.list(names=names, limit=1, order="asc")]
    equal(found, names, "a list in the order of making")
    back = letta.tools.list(names=names, order="asc", before=ids[2], limit=1)
    equal([tool.name for tool in back], names[:2][::-1], "the pages before a tool, from the nearest")
    equal([tool.id for tool in letta.tools.list(name=names[0]).items], ids[:1], "a list of one name")
    found = [tool.id for tool in letta.tools.list(tool_ids=ids[1:]).items]
    equal(found, ids[:0:-1], "a list of ids")
    found = letta.tools.list(search=names[0][:-1].upper(), tool_types=["custom"]).items
    equal(len(found), len(names), "a search by a part of the names")
    equal(letta.tools.list(names=names, exclude_tool_types=["custom"]).items, [], "types that are left out")
    found = letta.get("/v1/tools/count", cast_to=int, options={"params": {"names": names}})
    equal(found, len(names), "a count")
    for id in ids:
        letta.tools.delete(id)
    equal(letta.tools.list(names=names).items, [], "a list of what was deleted")
