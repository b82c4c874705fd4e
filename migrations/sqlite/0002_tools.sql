-- Tools as clients know them, what their sandboxes are given, and the packages they import.

-- One row: what whoever writes to tools or deletes package sets locks first, so that names are
-- decided and rows changed by one writer at a time.
CREATE TABLE tools_lock (
    id BIGINT PRIMARY KEY CHECK (id = 1)
);
INSERT INTO tools_lock (id) VALUES (1);

-- What the requirements of tools were resolved to, by the digest of what was found.
CREATE TABLE package_sets (
    digest       TEXT   NOT NULL PRIMARY KEY,
    requirements TEXT   NOT NULL,
    packages     TEXT   NOT NULL,
    size         BIGINT NOT NULL,
    created_at   BIGINT NOT NULL,
    last_used_at BIGINT NOT NULL
);
CREATE INDEX package_sets_by_use ON package_sets (last_used_at, digest);

-- `name_folded` is the name in lower case by the rules of Unicode, which neither database knows
-- by itself. `size` counts the bytes of what a client wrote: it bounds pages. Component and its
-- tool are named where a component brings the tool.
CREATE TABLE tools (
    id                        TEXT   NOT NULL PRIMARY KEY,
    name                      TEXT   NOT NULL UNIQUE,
    name_folded               TEXT   NOT NULL,
    tool_type                 TEXT   NOT NULL,
    source_type               TEXT,
    description               TEXT,
    source_code               TEXT,
    json_schema               TEXT,
    args_json_schema          TEXT,
    tags                      TEXT   NOT NULL,
    return_char_limit         BIGINT NOT NULL,
    pip_requirements          TEXT,
    npm_requirements          TEXT,
    default_requires_approval BIGINT,
    enable_parallel_execution BIGINT,
    metadata                  TEXT,
    component                 TEXT,
    component_tool            TEXT,
    packages                  TEXT REFERENCES package_sets (digest),
    created_by_id             TEXT,
    last_updated_by_id        TEXT,
    project_id                TEXT,
    created_at                BIGINT NOT NULL,
    updated_at                BIGINT NOT NULL,
    size                      BIGINT NOT NULL,
    CHECK ((component IS NULL) = (component_tool IS NULL))
);
CREATE INDEX tools_by_age ON tools (created_at, id);
CREATE UNIQUE INDEX tools_of_component ON tools (component, component_tool)
    WHERE component IS NOT NULL;
CREATE INDEX tools_by_packages ON tools (packages) WHERE packages IS NOT NULL;

CREATE TABLE sandbox_configs (
    id                 TEXT   NOT NULL PRIMARY KEY,
    sandbox_type       TEXT   NOT NULL UNIQUE,
    config             TEXT   NOT NULL,
    created_by_id      TEXT,
    last_updated_by_id TEXT,
    created_at         BIGINT NOT NULL,
    updated_at         BIGINT NOT NULL
);

-- The value is sealed, and bound to its id, its configuration with its type, and its key.
CREATE TABLE sandbox_variables (
    id                 TEXT   NOT NULL PRIMARY KEY,
    sandbox_config_id  TEXT   NOT NULL REFERENCES sandbox_configs (id) ON DELETE CASCADE,
    key                TEXT   NOT NULL,
    sealed             BLOB   NOT NULL,
    description        TEXT,
    created_by_id      TEXT,
    last_updated_by_id TEXT,
    created_at         BIGINT NOT NULL,
    updated_at         BIGINT NOT NULL,
    UNIQUE (sandbox_config_id, key)
);
