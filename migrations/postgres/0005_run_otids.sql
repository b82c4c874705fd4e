-- The clients' ids of the messages that began a run in the background, each as its SHA-256, known
-- from the moment the run begins, and one row for all ids of its request together, which begins
-- with `=`. `thread` is a conversation, or the agent of a default thread.
CREATE TABLE run_otids (
    thread TEXT COLLATE "C" NOT NULL,
    otid   TEXT COLLATE "C" NOT NULL,
    run_id TEXT COLLATE "C" NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    PRIMARY KEY (thread, otid)
);
CREATE INDEX run_otids_by_run ON run_otids (run_id);
