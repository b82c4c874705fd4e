-- Servers of tools that speak MCP. Their tokens and headers are sealed, and bound to the server's id
-- and to where they are sent.
CREATE TABLE mcp_servers (
    seq           BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id            TEXT COLLATE "C" NOT NULL UNIQUE,
    name          TEXT COLLATE "C" NOT NULL UNIQUE,
    transport     TEXT COLLATE "C" NOT NULL,
    url           TEXT COLLATE "C" NOT NULL,
    auth_header   TEXT COLLATE "C",
    created_by_id TEXT COLLATE "C",
    created_at    BIGINT NOT NULL,
    updated_at    BIGINT NOT NULL,
    sealed        BYTEA NOT NULL
);

-- Which tool of which such server a tool is: what the server itself calls it.
ALTER TABLE tools ADD COLUMN mcp_server_id TEXT COLLATE "C" REFERENCES mcp_servers (id) ON DELETE CASCADE;
ALTER TABLE tools ADD COLUMN mcp_tool TEXT COLLATE "C";
CREATE UNIQUE INDEX tools_of_mcp_server ON tools (mcp_server_id, mcp_tool)
    WHERE mcp_server_id IS NOT NULL;
