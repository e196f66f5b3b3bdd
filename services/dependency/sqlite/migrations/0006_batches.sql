CREATE TABLE batches (
	id           TEXT NOT NULL PRIMARY KEY,
	owner        TEXT NOT NULL,
	open         INTEGER NOT NULL,
	requested_by TEXT NOT NULL,
	reason       TEXT NOT NULL,
	trace_parent TEXT NOT NULL,
	requested_at INTEGER NOT NULL,
	completed_at INTEGER NOT NULL,
	walk         TEXT -- JSON
) STRICT;
CREATE INDEX batches_open ON batches (owner) WHERE open = 1;

CREATE TABLE refusals (
	batch   TEXT NOT NULL,
	asset   TEXT NOT NULL,
	name    TEXT NOT NULL,
	detail  TEXT NOT NULL,
	members TEXT, -- JSON
	PRIMARY KEY (batch, asset)
) STRICT, WITHOUT ROWID;

DROP INDEX deletions_by_batch;
CREATE INDEX deletions_by_batch ON deletions (batch, id, status) WHERE batch <> '';
