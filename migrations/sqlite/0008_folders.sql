-- Folders: collections of files that agents read.

-- No two folders of one creator have the same name. `document` is the folder; `size` counts its bytes.
CREATE TABLE folders (
    seq           INTEGER PRIMARY KEY,
    id            TEXT   NOT NULL UNIQUE,
    name          TEXT   NOT NULL,
    created_by_id TEXT,
    created_at    BIGINT NOT NULL,
    size          BIGINT NOT NULL,
    document      TEXT   NOT NULL
);
CREATE INDEX folders_by_age ON folders (created_at, seq);
CREATE UNIQUE INDEX folders_by_name ON folders (name, COALESCE(created_by_id, ''));

-- `upload` holds the bytes of a file until its text, `content`, is read from them. `size` counts the
-- bytes that were uploaded, `attempts` how often somebody began to read them.
CREATE TABLE folder_files (
    seq           INTEGER PRIMARY KEY,
    id            TEXT   NOT NULL UNIQUE,
    folder_id     TEXT   NOT NULL REFERENCES folders (id) ON DELETE CASCADE,
    name          TEXT   NOT NULL,
    original_name TEXT   NOT NULL,
    media_type    TEXT   NOT NULL,
    size          BIGINT NOT NULL,
    status        TEXT   NOT NULL,
    error         TEXT,
    passages      BIGINT,
    attempts      BIGINT NOT NULL,
    created_at    BIGINT NOT NULL,
    updated_at    BIGINT NOT NULL,
    upload        BLOB,
    content       TEXT,
    UNIQUE (folder_id, name)
);
CREATE INDEX folder_files_by_age ON folder_files (folder_id, created_at, seq);
CREATE INDEX folder_files_unfinished ON folder_files (seq)
    WHERE status IN ('pending', 'parsing', 'embedding');

-- `line` is where the text begins in the file; `size` counts the bytes of the text.
CREATE TABLE file_passages (
    seq         INTEGER PRIMARY KEY,
    id          TEXT   NOT NULL UNIQUE,
    folder_id   TEXT   NOT NULL REFERENCES folders (id) ON DELETE CASCADE,
    file_id     TEXT   NOT NULL REFERENCES folder_files (id) ON DELETE CASCADE,
    line        BIGINT NOT NULL,
    created_at  BIGINT NOT NULL,
    size        BIGINT NOT NULL,
    text        TEXT   NOT NULL,
    text_folded TEXT   NOT NULL
);
CREATE INDEX file_passages_by_folder ON file_passages (folder_id, created_at, seq);
CREATE INDEX file_passages_by_file ON file_passages (file_id);

CREATE TABLE agent_folders (
    seq       INTEGER PRIMARY KEY,
    agent_id  TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
    folder_id TEXT NOT NULL REFERENCES folders (id) ON DELETE CASCADE,
    UNIQUE (agent_id, folder_id)
);
CREATE INDEX agent_folders_by_folder ON agent_folders (folder_id);

-- The files of an agent's folders. `visible` is what the agent sees of one that is open, from
-- `first_line` to `last_line` where somebody said which.
CREATE TABLE agent_files (
    seq              INTEGER PRIMARY KEY,
    id               TEXT   NOT NULL UNIQUE,
    agent_id         TEXT   NOT NULL,
    folder_id        TEXT   NOT NULL,
    file_id          TEXT   NOT NULL REFERENCES folder_files (id) ON DELETE CASCADE,
    is_open          BIGINT NOT NULL,
    visible          TEXT,
    first_line       BIGINT,
    last_line        BIGINT,
    last_accessed_at BIGINT NOT NULL,
    created_at       BIGINT NOT NULL,
    UNIQUE (agent_id, file_id),
    FOREIGN KEY (agent_id, folder_id) REFERENCES agent_folders (agent_id, folder_id) ON DELETE CASCADE
);
CREATE INDEX agent_files_by_age ON agent_files (agent_id, created_at, seq);
CREATE INDEX agent_files_by_folder ON agent_files (agent_id, folder_id);
CREATE INDEX agent_files_by_file ON agent_files (file_id);
