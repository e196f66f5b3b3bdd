// Package devstack runs the stores of `tombstone dev` and of the tests inside this process: JetStream (nats-server), a
// MongoDB wire server (FerretDB on SQLite) and an S3 server (versitygw on files). Nothing is downloaded or started
// beside, nothing calls home, and every listener is on the loopback interface unless the caller says otherwise.
//
// All of them keep their data below one folder: `jetstream/`, `documents/` and `blobs/`. The folder survives a SIGKILL:
// the next Start repairs what a kill can leave half made in it (see repair.go) and takes it up again. Start locks the
// folder against a second process (on Unix; the package builds nowhere else).
//
// Properties of versitygw reach out of this package. It refuses a key that is also the folder of another (`a` and
// `a/b`), and lists as a delete marker what is written to a key that had one before, also when that was deleted. Only
// one of it can run in a process at a time, and it works with paths relative to the process's working directory, so
// while it runs the working directory is its own folder. Whoever starts it must make its own relative paths absolute
// before, and finds the old working directory back after Stop.
package devstack
