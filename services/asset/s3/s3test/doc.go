// Package s3test is a small object store in memory that speaks S3, with versions, delete markers, unfinished uploads and
// object locks, by the documented behaviour of AWS. It holds any key that S3 allows, and it can be told to misbehave as
// stores and networks do: see Quirks, and Server.Meddle and Server.Refuse. It checks no signatures.
package s3test
