-- Runs that another server than their own cancelled, until their own has seen it. They have their turn
-- still: whoever waits for it looks for them.
CREATE INDEX runs_ending ON runs (agent_id) WHERE status = 'cancelled' AND total_duration_ns IS NULL;
