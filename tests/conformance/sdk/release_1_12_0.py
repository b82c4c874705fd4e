"""letta-client 1.12.0: it still makes tools from functions and from classes."""

from __future__ import annotations

import asyncio
import os
from typing import List, Optional, Type

from checks import client, equal, holds, listing, refused, run
from letta_client import AsyncLetta
from letta_client.types import Tool
from letta_client.types.tool import BaseTool
from pydantic import BaseModel, Field

letta = client()


def roll_dice(sides: int, times: Optional[int] = None) -> str:
    """
    Roll a dice.

    Args:
        sides (int): How many sides it has.
        times (Optional[int]): How often it is rolled.

    Returns:
        str: What was rolled.
    """
    # Comments are part of the source.
    return f"{times or 1} of {sides}"


def undocumented(sides: int) -> int:
    return sides


class Item(BaseModel):
    sku: str = Field(..., description="The number in stock.")
    count: int = Field(1, description="How many.")


class Order(BaseModel):
    item: Item = Field(..., description="What is ordered.")
    note: Optional[str] = Field(None, description="A note.")


def order(item, note=None):
    print("ordered", item["sku"] if isinstance(item, dict) else item.sku)
    return note


class Inventory(BaseTool):
    # Every model of a tool needs one in this release, and none of a class is sent.
    id: str = "unused"
    name: str = "change_stock"
    args_schema: Type[BaseModel] = Order
    description: str = "Changes what is in stock."
    tags: List[str] = ["stock", "shop"]

    def run(self, item: Item, note: Optional[str] = None) -> bool:
        """
        Changes the stock.
        """
        return True


def from_functions() -> None:
    tool = letta.tools.upsert_from_function(func=roll_dice, tags=["dice"])
    equal(tool.name, "roll_dice", "the function's name")
    equal(tool.description, "Roll a dice.", "the docstring's short text")
    equal(tool.tags, ["dice"], "the tags")
    equal(tool.tool_type, "custom", "the type")
    holds("# Comments are part" in tool.source_code, "the source as it was written")
    expected = {
        "type": "object",
        "required": ["sides"],
        "properties": {
            "sides": {"type": "integer", "description": "How many sides it has."},
            "times": {"type": "integer", "description": "How often it is rolled."},
        },
    }
    equal(tool.json_schema["parameters"], expected, "the derived schema")
    again = letta.tools.upsert_from_function(func=roll_dice, description="Other.", return_char_limit=9)
    equal((again.id, again.description, again.tags), (tool.id, "Other.", []), "the same tool anew")
    equal(again.return_char_limit, 9, "the limit of results")
    created = letta.tools.create_from_function(func=roll_dice)
    equal(created.id, tool.id, "create is upsert")
    message = run(letta, source_code=tool.source_code, args={"sides": "6"}, name=tool.name)
    equal((message["status"], message["tool_return"]), ("success", "1 of 6"), "the function, run")
    missing = "Function undocumented missing docstring"
    refused(lambda: letta.tools.upsert_from_function(func=undocumented), 400, missing, "no docstring")
    letta.tools.delete(tool.id)


def from_schemas_of_arguments() -> None:
    tool = letta.tools.upsert_from_function(func=order, args_schema=Order, description="Orders.")
    parameters = tool.json_schema["parameters"]
    item = parameters["properties"]["item"]
    equal(parameters["required"], ["item"], "what the model requires")
    equal(item["properties"]["sku"]["description"], "The number in stock.", "the nested model's field")
    holds("$ref" not in str(parameters), f"references are written out: {parameters}")
    equal(tool.args_json_schema, Order.model_json_schema(), "the schema as it was sent")
    args = {"item": {"sku": "a-1"}, "note": "soon"}
    message = run(
        letta, source_code=tool.source_code, args=args, name="order", args_json_schema=tool.args_json_schema
    )
    equal((message["status"], message["tool_return"]), ("success", "soon"), f"the order, run: {message}")
    equal(message["stdout"], ["ordered a-1\n"], "what it printed")
    letta.tools.delete(tool.id)


def from_classes() -> None:
    tool = letta.tools.add(tool=Inventory())
    equal(tool.name, "change_stock", "the class's name")
    equal(tool.description, "Changes what is in stock.", "the class's description")
    equal(tool.tags, ["stock", "shop"], "the class's tags")
    holds(tool.source_code.startswith("def change_stock(item: Item"), f"the source: {tool.source_code}")
    equal(tool.json_schema["parameters"]["required"], ["item"], "the class's schema")
    equal(letta.tools.add(tool=Inventory()).id, tool.id, "the same class again")
    letta.tools.delete(tool.id)


def one_tool() -> None:
    tool = letta.tools.upsert_from_function(func=roll_dice)
    equal(letta.tools.retrieve(tool.id), tool, "a tool that is read")
    changed = letta.tools.update(tool.id, description="New.", tags=["x"], default_requires_approval=True)
    equal(
        (changed.id, changed.description, changed.tags, changed.default_requires_approval),
        (tool.id, "New.", ["x"], True),
        "a tool that is changed",
    )
    words = "does not match the name in the JSON schema"
    source = tool.source_code.replace("roll_dice", "other")
    refused(lambda: letta.tools.update(tool.id, source_code=source), 400, words, "another function")
    equal(letta.tools.delete(tool.id), None, "a deletion's answer")
    refused(lambda: letta.tools.retrieve(tool.id), 404, "Tool not found with id=", "a tool that is gone")
    refused(lambda: letta.tools.delete(tool.id), 400, f"Tool with id {tool.id} not found.", "gone already")


async def without_waiting() -> None:
    async with AsyncLetta(base_url=os.environ["BULKHEAD_URL"], api_key="unused") as letta:
        tool = await letta.tools.upsert_from_function(func=roll_dice)
        found = [found.id async for found in letta.tools.list(name="roll_dice")]
        equal(found, [tool.id], "a list that is awaited")
        await letta.tools.delete(tool.id)


from_functions()
from_schemas_of_arguments()
from_classes()
one_tool()
listing(letta, ["list_a", "list_b", "list_c"])
asyncio.run(without_waiting())
holds(Tool.model_fields.keys() >= {"id", "json_schema"}, "the client's own model of a tool")
