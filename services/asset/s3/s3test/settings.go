package s3test

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

func (s *Server) versioning(r Request) *Answer {
	status := ""
	if v := s.buckets[r.Bucket].versioning; v != Off {
		status = "<Status>" + strings.ToUpper(v[:1]) + v[1:] + "</Status>"
	}
	return ok("<VersioningConfiguration>" + status + "</VersioningConfiguration>")
}

func (s *Server) lockConfiguration(r Request) *Answer {
	if !s.buckets[r.Bucket].lock {
		return Failure(http.StatusNotFound, "ObjectLockConfigurationNotFoundError")
	}
	return ok("<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled></ObjectLockConfiguration>")
}

func (s *Server) replication(r Request) *Answer {
	if !s.buckets[r.Bucket].replicated {
		return Failure(http.StatusNotFound, "ReplicationConfigurationNotFoundError")
	}
	return ok("<ReplicationConfiguration><Role>r</Role><Rule><ID>1</ID><Status>Enabled</Status></Rule></ReplicationConfiguration>")
}

// retention answers GetObjectRetention.
func (s *Server) retention(r Request) *Answer {
	e := s.version(r)
	if e == nil || e.mode == "" {
		return Failure(http.StatusNotFound, "NoSuchObjectLockConfiguration")
	}
	return ok(fmt.Sprintf("<Retention><Mode>%s</Mode><RetainUntilDate>%s</RetainUntilDate></Retention>", e.mode, e.until.UTC().Format(time.RFC3339)))
}

// legalHold answers GetObjectLegalHold.
func (s *Server) legalHold(r Request) *Answer {
	e := s.version(r)
	if e == nil || !e.held {
		return Failure(http.StatusNotFound, "NoSuchObjectLockConfiguration")
	}
	return ok("<LegalHold><Status>ON</Status></LegalHold>")
}

// version is the version that a request names; nil when there is none.
func (s *Server) version(r Request) *entry {
	entries := s.buckets[r.Bucket].entries[r.Key]
	for i, e := range entries {
		if e.id == value(r, "versionId") && !e.upload {
			return &entries[i]
		}
	}
	return nil
}
