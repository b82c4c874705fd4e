-- Servers of tools that speak MCP. Their tokens and headers are sealed, and bound to the server's id
-- and to where they are sent.
CREATE TABLE mcp_servers (
    seq           INTEGER PRIMARY KEY,
    id            TEXT NOT NULL UNIQUE,
    name          TEXT NOT NULL UNIQUE,
    transport     TEXT NOT NULL,
    url           TEXT NOT NULL,
    auth_header   TEXT,
    created_by_id TEXT,
    created_at    BIGINT NOT NULL,
    updated_at    BIGINT NOT NULL,
    sealed        BLOB  NOT NULL
);

-- Which tool of which such server a tool is: what the server itself calls it.
ALTER TABLE tools ADD COLUMN mcp_server_id TEXT REFERENCES mcp_servers (id) ON DELETE CASCADE;
ALTER TABLE tools ADD COLUMN mcp_tool TEXT;
CREATE UNIQUE INDEX tools_of_mcp_server ON tools (mcp_server_id, mcp_tool)
    WHERE mcp_server_id IS NOT NULL;
