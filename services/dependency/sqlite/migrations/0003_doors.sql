-- Deadlines of uploads, and leases. The default is the zero time, that of year 1.
ALTER TABLE nodes ADD COLUMN granted_until INTEGER NOT NULL DEFAULT -62135596800000000;
ALTER TABLE nodes ADD COLUMN lease TEXT; -- JSON
