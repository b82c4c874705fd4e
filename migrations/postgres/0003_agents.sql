-- Agents, their memory blocks, what they may use, and to whom they belong.

-- `seq` is the order in which rows were made; it decides where points in time are the same.
-- `document` is the agent without `message_ids`. The other columns say what it says, where a
-- list is filtered or ordered by it, and count where both have it: the commit of a step writes
-- `message_ids`, `last_stop_reason` and `updated_at` alone. No index has these, so that such a
-- commit touches none. `size` counts the bytes of the document; it bounds pages.
CREATE TABLE agents (
    seq                 BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id                  TEXT COLLATE "C" NOT NULL UNIQUE,
    name                TEXT COLLATE "C" NOT NULL,
    name_folded         TEXT COLLATE "C" NOT NULL,
    hidden              BIGINT,
    project_id          TEXT COLLATE "C",
    template_id         TEXT COLLATE "C",
    base_template_id    TEXT COLLATE "C",
    created_by_id       TEXT COLLATE "C",
    last_stop_reason    TEXT COLLATE "C",
    last_run_completion BIGINT,
    created_at          BIGINT NOT NULL,
    updated_at          BIGINT NOT NULL,
    size                BIGINT NOT NULL,
    message_ids         TEXT   NOT NULL,
    document            TEXT   NOT NULL
);
CREATE INDEX agents_by_age ON agents (created_at, seq);
CREATE INDEX agents_by_name ON agents (name);

-- `document` is the block without its value. `size` counts the bytes of both.
CREATE TABLE blocks (
    seq                BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id                 TEXT COLLATE "C" NOT NULL UNIQUE,
    label              TEXT COLLATE "C" NOT NULL,
    label_folded       TEXT COLLATE "C" NOT NULL,
    description_folded TEXT COLLATE "C",
    value_folded       TEXT COLLATE "C" NOT NULL,
    is_template        BIGINT NOT NULL,
    template_name      TEXT COLLATE "C",
    hidden             BIGINT,
    project_id         TEXT COLLATE "C",
    version            BIGINT NOT NULL,
    created_at         BIGINT NOT NULL,
    updated_at         BIGINT NOT NULL,
    size               BIGINT NOT NULL,
    value              TEXT   NOT NULL,
    document           TEXT   NOT NULL
);
CREATE INDEX blocks_by_age ON blocks (created_at, seq);
CREATE INDEX blocks_by_label ON blocks (label);

CREATE TABLE block_tags (
    block_id TEXT COLLATE "C" NOT NULL REFERENCES blocks (id) ON DELETE CASCADE,
    tag      TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (block_id, tag)
);
CREATE INDEX block_tags_by_tag ON block_tags (tag);

-- The values that a block had, from its second value on: the first is written when it goes.
CREATE TABLE block_changes (
    block_id TEXT COLLATE "C" NOT NULL REFERENCES blocks (id) ON DELETE CASCADE,
    version  BIGINT NOT NULL,
    value    TEXT   NOT NULL,
    actor    TEXT COLLATE "C" NOT NULL,
    at       BIGINT NOT NULL,
    PRIMARY KEY (block_id, version)
);

-- `label` is that of the block: an agent has each only once.
CREATE TABLE agent_blocks (
    seq      BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    agent_id TEXT COLLATE "C" NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
    block_id TEXT COLLATE "C" NOT NULL REFERENCES blocks (id) ON DELETE CASCADE,
    label    TEXT COLLATE "C" NOT NULL,
    UNIQUE (agent_id, block_id),
    UNIQUE (agent_id, label)
);
CREATE INDEX agent_blocks_by_block ON agent_blocks (block_id);

CREATE TABLE agent_tools (
    seq      BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    agent_id TEXT COLLATE "C" NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
    tool_id  TEXT COLLATE "C" NOT NULL REFERENCES tools (id) ON DELETE CASCADE,
    UNIQUE (agent_id, tool_id)
);
CREATE INDEX agent_tools_by_tool ON agent_tools (tool_id);

CREATE TABLE agent_tags (
    agent_id   TEXT COLLATE "C" NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
    tag        TEXT COLLATE "C" NOT NULL,
    tag_folded TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (agent_id, tag)
);
CREATE INDEX agent_tags_by_tag ON agent_tags (tag);

-- The value is sealed, and bound to its id, its agent and its key.
CREATE TABLE agent_secrets (
    id          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    agent_id    TEXT COLLATE "C" NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
    key         TEXT COLLATE "C" NOT NULL,
    sealed      BYTEA  NOT NULL,
    description TEXT COLLATE "C",
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL,
    UNIQUE (agent_id, key)
);

-- `document` is the identity without its agents and blocks; `size` counts its bytes.
CREATE TABLE identities (
    seq            BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id             TEXT COLLATE "C" NOT NULL UNIQUE,
    identifier_key TEXT COLLATE "C" NOT NULL,
    name           TEXT COLLATE "C" NOT NULL,
    identity_type  TEXT COLLATE "C" NOT NULL,
    project_id     TEXT COLLATE "C",
    created_at     BIGINT NOT NULL,
    updated_at     BIGINT NOT NULL,
    size           BIGINT NOT NULL,
    document       TEXT   NOT NULL
);
CREATE INDEX identities_by_age ON identities (created_at, seq);
CREATE UNIQUE INDEX identities_by_key ON identities (identifier_key, COALESCE(project_id, ''));

CREATE TABLE identity_agents (
    seq         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    identity_id TEXT COLLATE "C" NOT NULL REFERENCES identities (id) ON DELETE CASCADE,
    agent_id    TEXT COLLATE "C" NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
    UNIQUE (identity_id, agent_id)
);
CREATE INDEX identity_agents_by_agent ON identity_agents (agent_id);

CREATE TABLE identity_blocks (
    seq         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    identity_id TEXT COLLATE "C" NOT NULL REFERENCES identities (id) ON DELETE CASCADE,
    block_id    TEXT COLLATE "C" NOT NULL REFERENCES blocks (id) ON DELETE CASCADE,
    UNIQUE (identity_id, block_id)
);
CREATE INDEX identity_blocks_by_block ON identity_blocks (block_id);

-- The state of an agent's tools goes with the agent.
CREATE INDEX state_namespaces_by_agent ON state_namespaces (agent);
