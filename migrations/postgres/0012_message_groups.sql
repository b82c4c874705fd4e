-- The group of a message, which its body has too: lists ask for it. It is read from the end of the body by
-- a pattern, since `json` refuses bodies that have an escaped NUL anywhere; an index takes no long ones.
ALTER TABLE messages ADD COLUMN group_id TEXT COLLATE "C";
UPDATE messages SET group_id = substring(body FROM
        '"group_id":"([^"\\]+)"(?:,"model":"[^"\\]*")?(?:,"is_err":(?:true|false))?\}$')
    WHERE body LIKE '%"group_id":"%';
-- As many bytes as new ones have at most.
UPDATE messages SET group_id = NULL WHERE octet_length(group_id) > 512;
CREATE INDEX messages_by_group ON messages (group_id, seq) WHERE group_id IS NOT NULL;
