-- Tools whose calls wait for approval although their server does not list them now: they come back with
-- that.
CREATE TABLE mcp_approvals (
    mcp_server_id TEXT NOT NULL REFERENCES mcp_servers (id) ON DELETE CASCADE,
    mcp_tool      TEXT NOT NULL,
    PRIMARY KEY (mcp_server_id, mcp_tool)
);
