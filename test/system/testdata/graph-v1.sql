-- A graph as the first version kept it (SQLite, tables of version 1), for upgrade_test.go: assets in every status,
-- deletions that are done, unsent, and scheduled (for the year 2100), a hold. Recorded from a run of that version; it is
-- never written anew.
BEGIN TRANSACTION;
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
INSERT INTO "commands" VALUES('01a22e92-63df-7e9f-b8cb-554f3e249748','01a22e92-63df-7df6-97d2-95bb7e9c8fab','deleting',1796077675487122,1796077675487122,'01a22e92-5fbc-7093-be55-3b0f73905c84',1796077685487122,0,'');
INSERT INTO "commands" VALUES('01a22e92-63df-7eae-951d-caa6a853091d','01a22e92-63df-7df6-97d2-95bb7e9c8fab','child',1796077675487122,1796077675487122,'01a22e92-5fbc-7093-be55-3b0f73905c84',1796077685487122,0,'');
INSERT INTO "commands" VALUES('01a22e92-63fb-7282-96f5-438d42e273d8','01a22e92-63fb-7278-9bba-5f30f54bd019','scheduled',4102444800000000,1796077675514751,'',-62135596800000000,0,'');
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
INSERT INTO "deletions" VALUES('01a22e92-5a1d-7693-b03d-6686eed04d31','deleted','acme','deleted','','anonymous','no longer shown','',1796077672985684,1796077672985684,1796077672998541,1796077673005780,1,1,NULL,NULL);
INSERT INTO "deletions" VALUES('01a22e92-5a6a-764a-ba6d-2b7b003f62ea','again','bolt','deleted','','anonymous','','',1796077673066204,1796077673066204,1796077673069756,1796077673084834,1,1,NULL,NULL);
INSERT INTO "deletions" VALUES('01a22e92-63df-7df6-97d2-95bb7e9c8fab','deleting','acme','deleting','','anonymous','the shop closes','',1796077675487122,1796077675487122,-62135596800000000,-62135596800000000,2,0,NULL,NULL);
INSERT INTO "deletions" VALUES('01a22e92-63fb-7278-9bba-5f30f54bd019','scheduled','bolt','scheduled','','anonymous','','',1796077675514751,4102444800000000,-62135596800000000,-62135596800000000,1,0,NULL,NULL);
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
INSERT INTO "entries" VALUES('deleted',1,'01a22e92-5a1d-76c2-86b6-8d1e4b074049','tombstone.deletion.requested.v1',1796077672985684,'01a22e92-5a1d-7693-b03d-6686eed04d31','01a22e92-59f4-7ea5-9e1f-163d061983ec','anonymous','no longer shown','','',NULL,0);
INSERT INTO "entries" VALUES('deleted',2,'01a22e92-5a2e-73cb-9af3-0395c7074742','tombstone.part.erased.v1',1796077673005780,'01a22e92-5a1d-7693-b03d-6686eed04d31','01a22e92-59f4-7ea5-9e1f-163d061983ec','anonymous','no longer shown','payload','',X'7B2270617274223A227061796C6F6164222C2267656E65726174696F6E223A2230316132326539322D353966342D376561352D396531662D313633643036313938336563222C22646F63756D656E7473223A302C226F626A65637473223A302C226279746573223A302C22617474656D707473223A312C227365656E5F616273656E745F6174223A22323032362D31312D33305432323A32373A35332E3030325A227D',0);
INSERT INTO "entries" VALUES('deleted',3,'01a22e92-5a2e-73db-87a9-555f229f35a1','tombstone.asset.erased.v1',1796077673005780,'01a22e92-5a1d-7693-b03d-6686eed04d31','01a22e92-59f4-7ea5-9e1f-163d061983ec','anonymous','no longer shown','','',NULL,0);
INSERT INTO "entries" VALUES('deleted',4,'01a22e92-5a2e-73df-b824-26971e6936d3','tombstone.deletion.completed.v1',1796077673005780,'01a22e92-5a1d-7693-b03d-6686eed04d31','01a22e92-59f4-7ea5-9e1f-163d061983ec','anonymous','no longer shown','','',NULL,0);
INSERT INTO "entries" VALUES('again',1,'01a22e92-5a6a-7664-94a7-e2708126404e','tombstone.deletion.requested.v1',1796077673066204,'01a22e92-5a6a-764a-ba6d-2b7b003f62ea','01a22e92-59f4-7eb4-a5dc-40d4072871ac','anonymous','','','',NULL,0);
INSERT INTO "entries" VALUES('again',2,'01a22e92-5a7e-7257-b883-5bf3a7b8dc34','tombstone.part.erased.v1',1796077673084834,'01a22e92-5a6a-764a-ba6d-2b7b003f62ea','01a22e92-59f4-7eb4-a5dc-40d4072871ac','anonymous','','note','',X'7B2270617274223A226E6F7465222C2267656E65726174696F6E223A2230316132326539322D353966342D376562342D613564632D343064343037323837316163222C22646F63756D656E7473223A302C226F626A65637473223A302C226279746573223A302C22617474656D707473223A312C227365656E5F616273656E745F6174223A22323032362D31312D33305432323A32373A35332E3037385A227D',0);
INSERT INTO "entries" VALUES('again',3,'01a22e92-5a7e-726b-b651-7ebcedc6eec9','tombstone.asset.erased.v1',1796077673084834,'01a22e92-5a6a-764a-ba6d-2b7b003f62ea','01a22e92-59f4-7eb4-a5dc-40d4072871ac','anonymous','','','',NULL,0);
INSERT INTO "entries" VALUES('again',4,'01a22e92-5a7e-7271-84a2-9766f5d96e37','tombstone.deletion.completed.v1',1796077673084834,'01a22e92-5a6a-764a-ba6d-2b7b003f62ea','01a22e92-59f4-7eb4-a5dc-40d4072871ac','anonymous','','','',NULL,0);
INSERT INTO "entries" VALUES('deleting',1,'01a22e92-63df-7eb8-972e-94f15907862e','tombstone.deletion.requested.v1',1796077675487122,'01a22e92-63df-7df6-97d2-95bb7e9c8fab','01a22e92-59f4-7ec2-a30d-fd6e6efb9049','anonymous','the shop closes','','',NULL,1);
INSERT INTO "entries" VALUES('scheduled',1,'01a22e92-63fb-7290-b00d-b8c25055c69a','tombstone.deletion.requested.v1',1796077675514751,'01a22e92-63fb-7278-9bba-5f30f54bd019','01a22e92-59f4-7edb-95f0-3a6f356040fa','anonymous','','','',NULL,1);
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
INSERT INTO "erasures" VALUES('01a22e92-5a1d-7693-b03d-6686eed04d31','deleted',0,'mesh','acme','01a22e92-59f4-7ea5-9e1f-163d061983ec','requested',1,-62135596800000000,NULL,'[{"part":"payload","generation":"01a22e92-59f4-7ea5-9e1f-163d061983ec","status":"erased","documents":0,"objects":0,"bytes":0,"attempts":1,"erased_at":"2026-11-30T22:27:53.002Z"}]');
INSERT INTO "erasures" VALUES('01a22e92-5a6a-764a-ba6d-2b7b003f62ea','again',0,'item','bolt','01a22e92-59f4-7eb4-a5dc-40d4072871ac','requested',1,-62135596800000000,NULL,'[{"part":"note","generation":"01a22e92-59f4-7eb4-a5dc-40d4072871ac","status":"erased","documents":0,"objects":0,"bytes":0,"attempts":1,"erased_at":"2026-11-30T22:27:53.078Z"}]');
INSERT INTO "erasures" VALUES('01a22e92-63df-7df6-97d2-95bb7e9c8fab','deleting',0,'mesh','acme','01a22e92-59f4-7ec2-a30d-fd6e6efb9049','requested',0,1796078575487122,NULL,'[{"part":"payload","generation":"01a22e92-59f4-7ec2-a30d-fd6e6efb9049","status":"waiting","documents":0,"objects":0,"bytes":0,"attempts":0}]');
INSERT INTO "erasures" VALUES('01a22e92-63df-7df6-97d2-95bb7e9c8fab','child',1,'item','acme','01a22e92-59f4-7ed3-b69f-5a53fa05ba46','PART_OF deleting',0,1796078575487122,NULL,'[{"part":"note","generation":"01a22e92-59f4-7ed3-b69f-5a53fa05ba46","status":"waiting","documents":0,"objects":0,"bytes":0,"attempts":0}]');
INSERT INTO "erasures" VALUES('01a22e92-63fb-7278-9bba-5f30f54bd019','scheduled',0,'late','bolt','01a22e92-59f4-7edb-95f0-3a6f356040fa','requested',0,-62135596800000000,NULL,NULL);
CREATE TABLE keys (
	subject  TEXT NOT NULL,
	key      TEXT NOT NULL,
	request  TEXT NOT NULL,
	deletion TEXT NOT NULL,
	PRIMARY KEY (subject, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE links (
	source TEXT NOT NULL REFERENCES nodes (id) DEFERRABLE INITIALLY DEFERRED,
	type   TEXT NOT NULL,
	target TEXT NOT NULL REFERENCES nodes (id) DEFERRABLE INITIALLY DEFERRED,
	hidden TEXT NOT NULL,
	PRIMARY KEY (source, type, target)
) STRICT, WITHOUT ROWID;
INSERT INTO "links" VALUES('child','PART_OF','deleting','');
INSERT INTO "links" VALUES('needs-live','DEPENDS_ON','live','');
INSERT INTO "links" VALUES('needs-live','REFERENCES','scheduled','01a22e92-63fb-7278-9bba-5f30f54bd019');
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
INSERT INTO "nodes" VALUES('again','item','bolt','live','','01a22e92-5ac1-7962-9fbe-13a4702bbcd8',6,1796077673153393,1796077673153393,-62135596800000000,-62135596800000000,4,NULL,NULL,NULL);
INSERT INTO "nodes" VALUES('child','item','acme','deleting','01a22e92-63df-7df6-97d2-95bb7e9c8fab','01a22e92-59f4-7ed3-b69f-5a53fa05ba46',1,1796077672948176,1796077672950194,1796077675487122,1796077675487122,0,NULL,NULL,NULL);
INSERT INTO "nodes" VALUES('deleted','mesh','acme','deleted','01a22e92-5a1d-7693-b03d-6686eed04d31','01a22e92-59f4-7ea5-9e1f-163d061983ec',3,1796077672948176,1796077672948176,1796077672985684,1796077672985684,4,NULL,'{"payload":{"status":"erased","generation":"01a22e92-59f4-7ea5-9e1f-163d061983ec","deletion":"01a22e92-5a1d-7693-b03d-6686eed04d31","erased_at":"2026-11-30T22:27:53.002Z","reason":"no longer shown"}}',NULL);
INSERT INTO "nodes" VALUES('deleting','mesh','acme','deleting','01a22e92-63df-7df6-97d2-95bb7e9c8fab','01a22e92-59f4-7ec2-a30d-fd6e6efb9049',100,1796077672948176,1796077672948176,1796077675487122,1796077675487122,1,NULL,NULL,NULL);
INSERT INTO "nodes" VALUES('held','mesh','acme','live','','01a22e92-59f4-7ee0-adb3-9aa76d3f3109',0,1796077672948176,1796077672948176,-62135596800000000,-62135596800000000,0,'{"by":"anonymous","at":"2026-11-30T22:27:53.207071Z"}',NULL,NULL);
INSERT INTO "nodes" VALUES('live','mesh','acme','live','','01a22e92-59f4-7d93-a0f7-e0af79317dbf',10,1796077672948176,1796077672948176,-62135596800000000,-62135596800000000,0,NULL,NULL,'{"n":7,"state":"done"}');
INSERT INTO "nodes" VALUES('needs-live','mesh','acme','live','','01a22e92-59f4-7e86-b5d7-17b0a21358ff',5,1796077672948176,1796077672950194,-62135596800000000,-62135596800000000,0,NULL,NULL,NULL);
INSERT INTO "nodes" VALUES('scheduled','late','bolt','deleting','01a22e92-63fb-7278-9bba-5f30f54bd019','01a22e92-59f4-7edb-95f0-3a6f356040fa',20,1796077672948176,1796077672948176,1796077675514751,4102444800000000,1,NULL,NULL,NULL);
CREATE TABLE places (
	place TEXT NOT NULL PRIMARY KEY,
	asset TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE settings (
	name  TEXT NOT NULL PRIMARY KEY,
	value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "settings" VALUES('policy.places','{"item/note":"[{\"collection\":\"notes\",\"id\":\"_id\",\"id_type\":\"string\",\"key\":\"{id}\"}]","mesh/payload":"[{\"bucket\":\"the-bucket\",\"prefix\":\"payload/{id}/{generation}/\"}]"}');
INSERT INTO "settings" VALUES('streams.made','{"commands":"2026-11-30T22:27:52.531220222Z","events":"2026-11-30T22:27:52.559640229Z"}');
CREATE TABLE usage (
	owner   TEXT NOT NULL PRIMARY KEY,
	assets  INTEGER NOT NULL,
	bytes   INTEGER NOT NULL,
	pending INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "usage" VALUES('acme',5,116,101);
INSERT INTO "usage" VALUES('bolt',2,26,20);
CREATE INDEX nodes_by_kind ON nodes (kind, id);
CREATE INDEX nodes_by_owner ON nodes (owner, id);
CREATE INDEX nodes_by_status ON nodes (status, id);
CREATE INDEX links_by_target ON links (target, source, type, hidden);
CREATE INDEX deletions_by_status ON deletions (status, id);
CREATE INDEX deletions_by_owner ON deletions (owner, id);
CREATE INDEX deletions_by_batch ON deletions (batch, id) WHERE batch <> '';
CREATE INDEX erasures_by_position ON erasures (deletion, position);
CREATE INDEX erasures_by_check ON erasures (check_at) WHERE done = 0;
CREATE INDEX commands_by_since ON commands (since, id, due_at, claimed_until);
CREATE INDEX commands_by_erasure ON commands (deletion, asset);
CREATE INDEX entries_unsent ON entries (time, id) WHERE unsent = 1;
CREATE INDEX places_by_asset ON places (asset);
COMMIT;
PRAGMA user_version = 1;
