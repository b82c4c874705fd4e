-- Groups of agents. `seq` is the order in which rows were made. Truth values are 0 and 1.

-- `document` is the group without its agents and blocks, and without what changes with every request:
-- `turns_counter` and `last_processed_message_id`. `size` counts its bytes; it bounds pages. A group
-- goes with the agent that leads it.
CREATE TABLE agent_groups (
    seq                       INTEGER PRIMARY KEY,
    id                        TEXT   NOT NULL UNIQUE,
    manager_type              TEXT   NOT NULL,
    manager_agent_id          TEXT   REFERENCES agents (id) ON DELETE CASCADE,
    project_id                TEXT,
    hidden                    BIGINT,
    turns_counter             BIGINT,
    last_processed_message_id TEXT,
    created_by_id             TEXT,
    created_at                BIGINT NOT NULL,
    updated_at                BIGINT NOT NULL,
    size                      BIGINT NOT NULL,
    document                  TEXT   NOT NULL
);
CREATE INDEX agent_groups_by_age ON agent_groups (created_at, seq);
CREATE INDEX agent_groups_by_manager ON agent_groups (manager_agent_id)
    WHERE manager_agent_id IS NOT NULL;
CREATE INDEX agent_groups_by_creator ON agent_groups (created_by_id, created_at, seq)
    WHERE created_by_id IS NOT NULL;

-- `is_owned` marks an agent that was made to look after the memory of the one that leads the group: it
-- has that agent's blocks and goes with it.
CREATE TABLE group_agents (
    seq      INTEGER PRIMARY KEY,
    group_id TEXT   NOT NULL REFERENCES agent_groups (id) ON DELETE CASCADE,
    agent_id TEXT   NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
    is_owned BIGINT NOT NULL,
    UNIQUE (group_id, agent_id)
);
CREATE INDEX group_agents_by_agent ON group_agents (agent_id);

CREATE TABLE group_blocks (
    seq      INTEGER PRIMARY KEY,
    group_id TEXT NOT NULL REFERENCES agent_groups (id) ON DELETE CASCADE,
    block_id TEXT NOT NULL REFERENCES blocks (id) ON DELETE CASCADE,
    UNIQUE (group_id, block_id)
);
CREATE INDEX group_blocks_by_block ON group_blocks (block_id);
