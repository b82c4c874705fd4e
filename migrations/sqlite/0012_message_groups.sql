-- The group of a message, which its body has too: lists ask for it.
ALTER TABLE messages ADD COLUMN group_id TEXT;
UPDATE messages SET group_id = json_extract(body, '$.group_id') WHERE body LIKE '%"group_id":"%';
CREATE INDEX messages_by_group ON messages (group_id, seq) WHERE group_id IS NOT NULL;
