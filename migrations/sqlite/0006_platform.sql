-- The platform: people who sign in, the types of agents that they may use, their projects, and the
-- agents in these; and whose the other things are. `seq` is the order in which rows were made.
-- Truth values are 0 and 1. `*_folded` is in lower case by the rules of Unicode.

-- `email` is in lower case, and what the user is found by.
CREATE TABLE users (
    seq           INTEGER PRIMARY KEY,
    id            TEXT   NOT NULL UNIQUE,
    email         TEXT   NOT NULL UNIQUE,
    first_name    TEXT   NOT NULL,
    last_name     TEXT   NOT NULL,
    is_superuser  BIGINT NOT NULL,
    is_active     BIGINT NOT NULL,
    password_hash TEXT   NOT NULL,
    created_at    BIGINT NOT NULL,
    updated_at    BIGINT NOT NULL
);

-- One row a sign-in. Of its refresh tokens the one of `generation` is valid.
CREATE TABLE sessions (
    seq          INTEGER PRIMARY KEY,
    id           TEXT   NOT NULL UNIQUE,
    user_id      TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    generation   BIGINT NOT NULL,
    created_at   BIGINT NOT NULL,
    refreshed_at BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL,
    ended_at     BIGINT
);
CREATE INDEX sessions_living ON sessions (user_id, seq) WHERE ended_at IS NULL;
CREATE INDEX sessions_by_user ON sessions (user_id);
CREATE INDEX sessions_by_end ON sessions (COALESCE(ended_at, expires_at));

CREATE TABLE agent_types (
    seq         INTEGER PRIMARY KEY,
    id          TEXT   NOT NULL UNIQUE,
    slug        TEXT   NOT NULL UNIQUE,
    name_folded TEXT   NOT NULL,
    is_active   BIGINT NOT NULL,
    document    TEXT   NOT NULL
);

-- Deleted ones stay, because instances name them; their slugs are free again.
CREATE TABLE projects (
    seq         INTEGER PRIMARY KEY,
    id          TEXT   NOT NULL UNIQUE,
    name        TEXT   NOT NULL,
    name_folded TEXT   NOT NULL,
    slug        TEXT   NOT NULL,
    owner_id    TEXT   NOT NULL REFERENCES users (id),
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL,
    deleted_at  BIGINT
);
CREATE UNIQUE INDEX projects_by_slug ON projects (owner_id, slug) WHERE deleted_at IS NULL;
CREATE INDEX projects_by_owner ON projects (owner_id, seq) WHERE deleted_at IS NULL;

-- Those in a project beside its owner.
CREATE TABLE project_members (
    seq        INTEGER PRIMARY KEY,
    project_id TEXT   NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    user_id    TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    role       TEXT   NOT NULL CHECK (role IN ('member', 'viewer')),
    added_at   BIGINT NOT NULL,
    UNIQUE (project_id, user_id)
);
CREATE INDEX project_members_by_user ON project_members (user_id);

-- Whether an agent takes messages: `active`, `paused` or `terminated`. It stands here and not in
-- `instances`, because every run asks for it.
ALTER TABLE agents ADD COLUMN standing TEXT NOT NULL DEFAULT 'active';

-- What makes an agent one of a project. It goes with the agent.
CREATE TABLE instances (
    seq           INTEGER PRIMARY KEY,
    agent_id      TEXT   NOT NULL UNIQUE REFERENCES agents (id) ON DELETE CASCADE,
    project_id    TEXT   NOT NULL REFERENCES projects (id),
    agent_type_id TEXT   NOT NULL REFERENCES agent_types (id),
    created_by    TEXT   NOT NULL,
    created_at    BIGINT NOT NULL,
    updated_at    BIGINT NOT NULL,
    terminated_at BIGINT
);
CREATE INDEX instances_by_project ON instances (project_id, seq);
CREATE INDEX instances_by_type ON instances (agent_type_id);

-- Whose a thing is: who made it, or who made the agent that it was made for. None for what was made
-- before there were users.
ALTER TABLE blocks ADD COLUMN created_by_id TEXT;
ALTER TABLE archives ADD COLUMN created_by_id TEXT;
ALTER TABLE identities ADD COLUMN created_by_id TEXT;
CREATE INDEX agents_by_creator ON agents (created_by_id, created_at, seq)
    WHERE created_by_id IS NOT NULL;
CREATE INDEX blocks_by_creator ON blocks (created_by_id, created_at, seq)
    WHERE created_by_id IS NOT NULL;
CREATE INDEX archives_by_creator ON archives (created_by_id, created_at, seq)
    WHERE created_by_id IS NOT NULL;
CREATE INDEX identities_by_creator ON identities (created_by_id, created_at, seq)
    WHERE created_by_id IS NOT NULL;

-- What a price is found by (`provider/model`), and the fuel of the step's tool calls, which stays
-- known when their receipts are pruned. Steps of before have neither.
ALTER TABLE steps ADD COLUMN model_handle TEXT;
ALTER TABLE steps ADD COLUMN fuel BIGINT NOT NULL DEFAULT 0;
