-- Points in time are microseconds since 1970 in UTC. Documents are JSON as text.

-- One row: proves on opening that the key is the one that sealed this database's secrets.
CREATE TABLE installation (
    id        BIGINT PRIMARY KEY CHECK (id = 1),
    key_check BLOB   NOT NULL
);

-- One row a name: what a writer locks while it changes the versions of that name.
CREATE TABLE component_names (
    name       TEXT   NOT NULL PRIMARY KEY,
    updated_at BIGINT NOT NULL
);

CREATE TABLE components (
    digest      TEXT   NOT NULL PRIMARY KEY,
    name        TEXT   NOT NULL REFERENCES component_names (name),
    status      TEXT   NOT NULL CHECK (status IN ('active', 'pending', 'retired')),
    size        BIGINT NOT NULL,
    description TEXT   NOT NULL,
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL,
    bytes       BLOB   NOT NULL
);
CREATE UNIQUE INDEX components_one_active ON components (name) WHERE status = 'active';
CREATE INDEX components_by_age ON components (created_at, digest);
CREATE INDEX components_by_name ON components (name, created_at, digest);

-- No reference to a component: a grant may be given before the first push.
CREATE TABLE grants (
    id           TEXT   NOT NULL PRIMARY KEY,
    component    TEXT   NOT NULL,
    tool         TEXT,
    capabilities TEXT   NOT NULL,
    limits       TEXT,
    note         TEXT,
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT
);
CREATE INDEX grants_by_component ON grants (component, created_at, id);
CREATE INDEX grants_by_age ON grants (created_at, id);

CREATE TABLE credentials (
    id         TEXT   NOT NULL PRIMARY KEY,
    name       TEXT   NOT NULL UNIQUE,
    placement  TEXT   NOT NULL,
    audience   TEXT   NOT NULL,
    sealed     BLOB   NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);

-- Counts and the source of versions of a namespace: what a writer locks.
CREATE TABLE state_namespaces (
    tool     TEXT   NOT NULL,
    agent    TEXT   NOT NULL,
    sequence BIGINT NOT NULL,
    entries  BIGINT NOT NULL,
    bytes    BIGINT NOT NULL,
    PRIMARY KEY (tool, agent)
);

-- Keys are bytes, so that both databases sort them alike and take any character.
CREATE TABLE state_entries (
    tool    TEXT   NOT NULL,
    agent   TEXT   NOT NULL,
    key     BLOB   NOT NULL,
    version BIGINT NOT NULL,
    size    BIGINT NOT NULL,
    value   BLOB   NOT NULL,
    PRIMARY KEY (tool, agent, key),
    FOREIGN KEY (tool, agent) REFERENCES state_namespaces (tool, agent) ON DELETE CASCADE
);

-- Columns to filter by, and the whole receipt. No reference to a component: receipts outlive it.
CREATE TABLE receipts (
    id         TEXT   NOT NULL PRIMARY KEY,
    started_at BIGINT NOT NULL,
    digest     TEXT   NOT NULL,
    tool       TEXT   NOT NULL,
    agent_id   TEXT,
    outcome    TEXT   NOT NULL,
    document   TEXT   NOT NULL
);
CREATE INDEX receipts_by_age ON receipts (started_at, id);
CREATE INDEX receipts_by_tool ON receipts (tool, started_at, id);
CREATE INDEX receipts_by_agent ON receipts (agent_id, started_at, id) WHERE agent_id IS NOT NULL;
CREATE INDEX receipts_by_digest ON receipts (digest, started_at, id);
