package s3test

import (
	"encoding/xml"
	"fmt"
	"net/http"
	"strings"
)

// batch is what a DeleteObjects request asks for.
type batch struct {
	Quiet   bool
	Objects []struct {
		Key       string
		VersionID string `xml:"VersionId"`
	} `xml:"Object"`
}

// deleteObjects answers DeleteObjects.
func (s *Server) deleteObjects(r Request) *Answer {
	var b batch
	if err := xml.Unmarshal([]byte(r.Body), &b); err != nil || len(b.Objects) == 0 || len(b.Objects) > 1000 {
		return Failure(http.StatusBadRequest, "MalformedXML")
	}
	var out strings.Builder
	for _, o := range b.Objects {
		what := fmt.Sprintf("<Key>%s</Key>", escape(o.Key))
		if o.VersionID != "" {
			what += fmt.Sprintf("<VersionId>%s</VersionId>", o.VersionID)
		}
		if code := s.remove(r, o.Key, o.VersionID); code != "" {
			fmt.Fprintf(&out, "<Error>%s<Code>%s</Code><Message>told so</Message></Error>", what, code)
		} else if !b.Quiet {
			fmt.Fprintf(&out, "<Deleted>%s</Deleted>", what)
		}
	}
	return ok("<DeleteResult>" + out.String() + "</DeleteResult>")
}

// deleteObject answers DeleteObject.
func (s *Server) deleteObject(r Request) *Answer {
	if r.Key == "" {
		return Failure(http.StatusConflict, "BucketNotEmpty")
	}
	if code := s.remove(r, r.Key, value(r, "versionId")); code != "" {
		return Failure(http.StatusForbidden, code)
	}
	return &Answer{Status: http.StatusNoContent}
}

// remove deletes one version and gives the error code of a refusal.
func (s *Server) remove(r Request, key, id string) (code string) {
	if s.Refuse != nil {
		if code := s.Refuse(r.Bucket, key, id); code != "" {
			return code
		}
	}
	bypass := r.Header.Get("X-Amz-Bypass-Governance-Retention") == "true"
	b := s.buckets[r.Bucket]
	switch {
	case bypass && !b.lock:
		return "InvalidArgument"
	case id == "":
		s.deleteCurrent(r.Bucket, key)
		return ""
	case b.locked(key, id, s.Now().UnixNano(), bypass):
		return "AccessDenied"
	}
	for _, e := range b.remove(key, id, false) {
		if s.Quirks.Lag > 0 {
			b.ghosts = append(b.ghosts, ghost{e, s.Quirks.Lag})
		}
	}
	return ""
}

func (b *bucket) locked(key, id string, now int64, bypass bool) bool {
	for _, e := range b.entries[key] {
		if e.id == id && !e.upload {
			retained := e.mode != "" && e.until.UnixNano() > now && (e.mode != "GOVERNANCE" || !bypass)
			return e.held || retained
		}
	}
	return false
}

// abortUpload answers AbortMultipartUpload.
func (s *Server) abortUpload(r Request) *Answer {
	if len(s.buckets[r.Bucket].remove(r.Key, value(r, "uploadId"), true)) == 0 {
		return Failure(http.StatusNotFound, "NoSuchUpload")
	}
	return &Answer{Status: http.StatusNoContent}
}

// putObject answers PutObject.
func (s *Server) putObject(r Request) *Answer {
	if r.Key == "" || len(r.Key) > 1024 {
		return Failure(http.StatusBadRequest, "KeyTooLongError")
	}
	s.put(r.Bucket, entry{key: r.Key, content: r.Body})
	return ok("")
}
