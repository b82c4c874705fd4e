-- What agents did and know: messages, runs, steps and their traces, conversations, archives; and
-- the providers of models that were configured through the API. `seq` is the order in which rows
-- were written. `size` counts the bytes of a row's documents and texts: it bounds pages.
-- `*_folded` is in lower case by the rules of Unicode.

-- A thread of messages beside the default one of its agent. Deleted ones stay: runs name them.
CREATE TABLE conversations (
    seq                BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id                 TEXT COLLATE "C" NOT NULL UNIQUE,
    agent_id           TEXT COLLATE "C" NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
    message_ids        TEXT   NOT NULL,
    summary_folded     TEXT COLLATE "C",
    is_deleted         BIGINT NOT NULL,
    last_message_at    BIGINT,
    created_at         BIGINT NOT NULL,
    updated_at         BIGINT NOT NULL,
    document           TEXT   NOT NULL,
    size               BIGINT NOT NULL
);
CREATE INDEX conversations_by_agent ON conversations (agent_id, created_at, seq);
CREATE INDEX conversations_by_age ON conversations (created_at, seq);

-- No reference to a run or a step: a run can be deleted, what was said stays. `tool_names` is a
-- list of the tools whose results a message has.
CREATE TABLE messages (
    seq             BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id              TEXT COLLATE "C" NOT NULL UNIQUE,
    agent_id        TEXT COLLATE "C" NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
    conversation_id TEXT COLLATE "C" REFERENCES conversations (id) ON DELETE CASCADE,
    run_id          TEXT COLLATE "C",
    step_id         TEXT COLLATE "C",
    role            TEXT COLLATE "C" NOT NULL,
    created_at      BIGINT NOT NULL,
    text_folded     TEXT COLLATE "C" NOT NULL,
    tool_names      TEXT,
    body            TEXT   NOT NULL,
    size            BIGINT NOT NULL
);
CREATE INDEX messages_by_agent ON messages (agent_id, seq);
CREATE INDEX messages_by_thread ON messages (conversation_id, agent_id, seq);
CREATE INDEX messages_by_run ON messages (run_id, seq) WHERE run_id IS NOT NULL;
CREATE INDEX messages_by_step ON messages (step_id, seq) WHERE step_id IS NOT NULL;

-- `alive_at` is when its server last said that it works on it.
CREATE TABLE runs (
    seq               BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id                TEXT COLLATE "C" NOT NULL UNIQUE,
    agent_id          TEXT COLLATE "C" NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
    conversation_id   TEXT COLLATE "C",
    status            TEXT COLLATE "C" NOT NULL,
    stop_reason       TEXT COLLATE "C",
    background        BIGINT NOT NULL,
    total_duration_ns BIGINT,
    created_at        BIGINT NOT NULL,
    alive_at          BIGINT NOT NULL,
    document          TEXT   NOT NULL,
    size              BIGINT NOT NULL
);
CREATE INDEX runs_by_agent ON runs (agent_id, created_at, seq);
CREATE INDEX runs_by_age ON runs (created_at, seq);
CREATE INDEX runs_active ON runs (agent_id, seq) WHERE status IN ('created', 'running');

CREATE TABLE steps (
    seq                 BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id                  TEXT COLLATE "C" NOT NULL UNIQUE,
    agent_id            TEXT COLLATE "C" NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
    run_id              TEXT COLLATE "C",
    model               TEXT COLLATE "C",
    feedback            TEXT COLLATE "C",
    tid                 TEXT COLLATE "C",
    tags                TEXT   NOT NULL,
    project_id          TEXT COLLATE "C",
    completion_tokens   BIGINT NOT NULL,
    prompt_tokens       BIGINT NOT NULL,
    total_tokens        BIGINT NOT NULL,
    cached_input_tokens BIGINT,
    cache_write_tokens  BIGINT,
    reasoning_tokens    BIGINT,
    created_at          BIGINT NOT NULL,
    document            TEXT   NOT NULL,
    size                BIGINT NOT NULL
);
CREATE INDEX steps_by_agent ON steps (agent_id, created_at, seq);
CREATE INDEX steps_by_age ON steps (created_at, seq);
CREATE INDEX steps_by_run ON steps (run_id, created_at, seq) WHERE run_id IS NOT NULL;

CREATE TABLE step_tags (
    step_id TEXT COLLATE "C" NOT NULL REFERENCES steps (id) ON DELETE CASCADE,
    tag     TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (step_id, tag)
);
CREATE INDEX step_tags_by_tag ON step_tags (tag, step_id);

-- What providers were sent and answered: the newest of each agent.
CREATE TABLE traces (
    seq        BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id         TEXT COLLATE "C" NOT NULL UNIQUE,
    step_id    TEXT COLLATE "C" NOT NULL REFERENCES steps (id) ON DELETE CASCADE,
    agent_id   TEXT COLLATE "C" NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
    run_id     TEXT COLLATE "C",
    call_type  TEXT COLLATE "C" NOT NULL,
    request    TEXT   NOT NULL,
    response   TEXT   NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX traces_by_agent ON traces (agent_id, seq);
CREATE INDEX traces_by_step ON traces (step_id, seq);

-- Which tool call of which step a receipt is of; it goes with either.
CREATE TABLE step_receipts (
    seq          BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    step_id      TEXT COLLATE "C" NOT NULL REFERENCES steps (id) ON DELETE CASCADE,
    tool_call_id TEXT COLLATE "C" NOT NULL,
    receipt_id   TEXT COLLATE "C" NOT NULL REFERENCES receipts (id) ON DELETE CASCADE,
    UNIQUE (step_id, tool_call_id, receipt_id)
);
CREATE INDEX step_receipts_by_receipt ON step_receipts (receipt_id);

CREATE TABLE archives (
    seq        BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id         TEXT COLLATE "C" NOT NULL UNIQUE,
    name       TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    document   TEXT   NOT NULL,
    size       BIGINT NOT NULL
);
CREATE INDEX archives_by_age ON archives (created_at, seq);
CREATE INDEX archives_by_name ON archives (name, created_at, seq);

-- An agent has one archive at most; an archive may have many agents.
CREATE TABLE agent_archives (
    seq        BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    agent_id   TEXT COLLATE "C" NOT NULL UNIQUE REFERENCES agents (id) ON DELETE CASCADE,
    archive_id TEXT COLLATE "C" NOT NULL REFERENCES archives (id) ON DELETE CASCADE
);
CREATE INDEX agent_archives_by_archive ON agent_archives (archive_id, seq);

-- `embedding` is a vector of 32-bit floats, each four bytes, the lowest first.
CREATE TABLE passages (
    seq         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id          TEXT COLLATE "C" NOT NULL UNIQUE,
    archive_id  TEXT COLLATE "C" NOT NULL REFERENCES archives (id) ON DELETE CASCADE,
    created_at  BIGINT NOT NULL,
    text_folded TEXT COLLATE "C" NOT NULL,
    document    TEXT   NOT NULL,
    embedding   BYTEA,
    size        BIGINT NOT NULL
);
CREATE INDEX passages_by_archive ON passages (archive_id, created_at, seq);

CREATE TABLE passage_tags (
    passage_id TEXT COLLATE "C" NOT NULL REFERENCES passages (id) ON DELETE CASCADE,
    tag        TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (passage_id, tag)
);

-- The keys are sealed, and bound to the provider's id, its type and where it is.
CREATE TABLE providers (
    seq           BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id            TEXT COLLATE "C" NOT NULL UNIQUE,
    name          TEXT COLLATE "C" NOT NULL UNIQUE,
    provider_type TEXT COLLATE "C" NOT NULL,
    base_url      TEXT COLLATE "C",
    region        TEXT COLLATE "C",
    api_version   TEXT COLLATE "C",
    created_at    BIGINT NOT NULL,
    updated_at    BIGINT NOT NULL,
    last_synced   BIGINT,
    sealed        BYTEA  NOT NULL,
    size          BIGINT NOT NULL
);
CREATE INDEX providers_by_age ON providers (created_at, seq);

-- What a run in the background told, kept for clients that come back. Positions begin at 1; those
-- of numbered events are their numbers.
CREATE TABLE run_events (
    run_id     TEXT COLLATE "C" NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    position   BIGINT NOT NULL,
    is_last    BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    data       TEXT   NOT NULL,
    PRIMARY KEY (run_id, position)
);
CREATE INDEX run_events_by_age ON run_events (created_at);
