-- Times are UTC microseconds since 1970; the zero time is that of year 1, so that it sorts before all others.
-- Text is compared byte by byte, so ids are in the order of their UTF-8.

CREATE TABLE nodes (
	id           TEXT NOT NULL PRIMARY KEY,
	kind         TEXT NOT NULL,
	owner        TEXT NOT NULL,
	status       TEXT NOT NULL,
	deletion     TEXT NOT NULL,
	generation   TEXT NOT NULL,
	bytes        INTEGER NOT NULL,
	created_at   INTEGER NOT NULL,
	updated_at   INTEGER NOT NULL,
	requested_at INTEGER NOT NULL,
	due_at       INTEGER NOT NULL,
	sequence     INTEGER NOT NULL,
	hold         TEXT, -- JSON from here on
	parts        TEXT,
	attributes   TEXT
) STRICT;
CREATE INDEX nodes_by_kind ON nodes (kind, id);
CREATE INDEX nodes_by_owner ON nodes (owner, id);
CREATE INDEX nodes_by_status ON nodes (status, id);

CREATE TABLE links (
	source TEXT NOT NULL REFERENCES nodes (id) DEFERRABLE INITIALLY DEFERRED,
	type   TEXT NOT NULL,
	target TEXT NOT NULL REFERENCES nodes (id) DEFERRABLE INITIALLY DEFERRED,
	hidden TEXT NOT NULL,
	PRIMARY KEY (source, type, target)
) STRICT, WITHOUT ROWID;
CREATE INDEX links_by_target ON links (target, source, type, hidden);

CREATE TABLE deletions (
	id           TEXT NOT NULL PRIMARY KEY,
	root         TEXT NOT NULL,
	owner        TEXT NOT NULL,
	status       TEXT NOT NULL,
	batch        TEXT NOT NULL,
	requested_by TEXT NOT NULL,
	reason       TEXT NOT NULL,
	trace_parent TEXT NOT NULL,
	requested_at INTEGER NOT NULL,
	due_at       INTEGER NOT NULL,
	sent_at      INTEGER NOT NULL,
	completed_at INTEGER NOT NULL,
	total        INTEGER NOT NULL,
	done         INTEGER NOT NULL,
	parts        TEXT, -- JSON from here on
	blocked      TEXT
) STRICT;
CREATE INDEX deletions_by_status ON deletions (status, id);
CREATE INDEX deletions_by_owner ON deletions (owner, id);
CREATE INDEX deletions_by_batch ON deletions (batch, id) WHERE batch <> '';

CREATE TABLE erasures (
	deletion   TEXT NOT NULL REFERENCES deletions (id) DEFERRABLE INITIALLY DEFERRED,
	asset      TEXT NOT NULL,
	position   INTEGER NOT NULL,
	kind       TEXT NOT NULL,
	owner      TEXT NOT NULL,
	generation TEXT NOT NULL,
	why        TEXT NOT NULL,
	done       INTEGER NOT NULL,
	check_at   INTEGER NOT NULL,
	parts      TEXT, -- JSON from here on
	steps      TEXT,
	PRIMARY KEY (deletion, asset)
) STRICT;
CREATE INDEX erasures_by_position ON erasures (deletion, position);
CREATE INDEX erasures_by_check ON erasures (check_at) WHERE done = 0;

CREATE TABLE commands (
	id            TEXT NOT NULL PRIMARY KEY,
	deletion      TEXT NOT NULL,
	asset         TEXT NOT NULL,
	due_at        INTEGER NOT NULL,
	since         INTEGER NOT NULL,
	claimed_by    TEXT NOT NULL,
	claimed_until INTEGER NOT NULL,
	replace_copy  INTEGER NOT NULL,
	cause         TEXT NOT NULL,
	FOREIGN KEY (deletion, asset) REFERENCES erasures (deletion, asset) DEFERRABLE INITIALLY DEFERRED
) STRICT;
-- All that claiming and counting look at is in the index, so that flags which are not due yet cost little.
CREATE INDEX commands_by_since ON commands (since, id, due_at, claimed_until);
CREATE INDEX commands_by_erasure ON commands (deletion, asset);

CREATE TABLE entries (
	asset      TEXT NOT NULL,
	sequence   INTEGER NOT NULL,
	id         TEXT NOT NULL UNIQUE,
	type       TEXT NOT NULL,
	time       INTEGER NOT NULL,
	deletion   TEXT NOT NULL,
	generation TEXT NOT NULL,
	actor      TEXT NOT NULL,
	reason     TEXT NOT NULL,
	part       TEXT NOT NULL,
	detail     TEXT NOT NULL,
	evidence   BLOB,
	unsent     INTEGER NOT NULL DEFAULT 1,
	PRIMARY KEY (asset, sequence)
) STRICT;
CREATE INDEX entries_unsent ON entries (time, id) WHERE unsent = 1;

CREATE TABLE usage (
	owner   TEXT NOT NULL PRIMARY KEY,
	assets  INTEGER NOT NULL,
	bytes   INTEGER NOT NULL,
	pending INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE keys (
	subject  TEXT NOT NULL,
	key      TEXT NOT NULL,
	request  TEXT NOT NULL,
	deletion TEXT NOT NULL,
	PRIMARY KEY (subject, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE places (
	place TEXT NOT NULL PRIMARY KEY,
	asset TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX places_by_asset ON places (asset);

CREATE TABLE settings (
	name  TEXT NOT NULL PRIMARY KEY,
	value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
