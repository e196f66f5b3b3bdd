-- Later looks at what was erased. What was done before this migration is not looked at again.
ALTER TABLE erasures ADD COLUMN rechecks INTEGER NOT NULL DEFAULT 0;
CREATE INDEX erasures_by_recheck ON erasures (check_at) WHERE done = 1 AND check_at > -62135596800000000;
