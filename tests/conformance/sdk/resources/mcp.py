"""MCP servers: registered, their tools attached and called, by a server in this process."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Iterator

from .testing import MINE, agent, call, check, equal, holds, letta, of_kind, refused, say

TOOLS = [
    {
        "name": "add",
        "description": "Adds two numbers.",
        "inputSchema": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "required": ["a", "b"],
        },
    }
]


class Handler(BaseHTTPRequestHandler):
    """Streamable HTTP without sessions, with answers as documents."""

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if "id" not in message:
            self.send_response(202)
            self.send_header("content-length", "0")
            self.end_headers()
            return
        result = answer(message["method"], message.get("params") or {})
        body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def answer(method: str, params: dict) -> dict:
    if method == "initialize":
        return {
            "protocolVersion": "2025-03-26",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "adder", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": TOOLS}
    arguments = params["arguments"]
    text = str(arguments["a"] + arguments["b"])
    return {"content": [{"type": "text", "text": text}]}


@contextmanager
def adder() -> Iterator[str]:
    """A server on loopback, and its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/mcp"
    finally:
        server.shutdown()
        server.server_close()


@check("a server is registered, its tools are called, and both go away")
def servers() -> None:
    if not hasattr(letta, "mcp_servers"):
        return
    servers = letta.mcp_servers
    name = f"{MINE}-adder"
    with adder() as url:
        config = {"mcp_server_type": "streamable_http", "server_url": url, "auth_token": "Bearer a-secret-token"}
        made = servers.create(server_name=name, config=config)
        equal((made.server_name, made.server_url), (name, url), "a new server")
        holds("a-secret-token" not in made.to_json(), "its token stays inside")
        equal(servers.retrieve(made.id), made, "one that is read")
        holds(made.id in [each.id for each in servers.list()], "the list")
        found = servers.tools.list(made.id)
        equal([each.name for each in found], ["add"], "its tools")
        add = found[0]
        equal((add.tool_type, add.tags), ("external_mcp", [f"mcp:{name}"]), "a tool")
        equal(servers.tools.retrieve(add.id, mcp_server_id=made.id), add, "a tool that is read")
        result = servers.tools.run(add.id, mcp_server_id=made.id, args={"a": 2, "b": 3})
        equal((result.status, result.func_return), ("success", "5"), "a call by hand")
        with agent(tool_ids=[add.id]) as with_it:
            messages = say(with_it.id, call("add", a=20, b=22)).messages
            returned = of_kind(messages, "tool_return_message")[0]
            equal((returned.status, returned.tool_return), ("success", "42"), "a call of an agent")
        changed = servers.update(made.id, server_name=f"{name}-2", config={**config, "server_url": url})
        equal((changed.id, changed.server_name), (made.id, f"{name}-2"), "another name")
        servers.refresh(made.id)
        servers.delete(made.id)
        refused(lambda: servers.retrieve(made.id), 404, "MCPServer not found", "one that is gone")
        refused(lambda: letta.tools.retrieve(add.id), 404, "Tool not found", "its tool")
