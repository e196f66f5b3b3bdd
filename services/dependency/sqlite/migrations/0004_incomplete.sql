-- The deletions that are deleting are few, whatever was deleted before.
ALTER TABLE deletions ADD COLUMN stalled_at INTEGER NOT NULL DEFAULT -62135596800000000;
CREATE INDEX deletions_incomplete ON deletions (due_at, stalled_at) WHERE status = 'deleting';
CREATE INDEX deletions_blocked ON deletions (status) WHERE blocked IS NOT NULL;
