package s3test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// listVersions answers ListObjectVersions.
func (s *Server) listVersions(r Request) *Answer {
	b := s.buckets[r.Bucket]
	b.haunt()
	defer b.rest()
	p := s.page(r, false, "key-marker", "version-id-marker", "max-keys")
	var versions, markers strings.Builder
	for _, e := range p.entries {
		id := fmt.Sprintf("<Key>%s</Key><VersionId>%s</VersionId><LastModified>%s</LastModified>", p.text(e.key), e.id, e.when())
		if e.marker {
			fmt.Fprintf(&markers, "<DeleteMarker>%s</DeleteMarker>", id)
		} else {
			fmt.Fprintf(&versions, "<Version>%s<Size>%d</Size></Version>", id, len(e.content))
		}
	}
	return ok("<ListVersionsResult>" + p.head("NextKeyMarker", "NextVersionIdMarker") + versions.String() + markers.String() + "</ListVersionsResult>")
}

// listUploads answers ListMultipartUploads.
func (s *Server) listUploads(r Request) *Answer {
	if s.Quirks.RefusesUploadIDs && value(r, "upload-id-marker") != "" {
		return Failure(http.StatusBadRequest, "InvalidArgument")
	}
	p := s.page(r, true, "key-marker", "upload-id-marker", "max-uploads")
	var uploads strings.Builder
	for _, e := range p.entries {
		fmt.Fprintf(&uploads, "<Upload><Key>%s</Key><UploadId>%s</UploadId><Initiated>%s</Initiated></Upload>", p.text(e.key), e.id, e.when())
	}
	return ok("<ListMultipartUploadsResult>" + p.head("NextKeyMarker", "NextUploadIdMarker") + uploads.String() + "</ListMultipartUploadsResult>")
}

func (e entry) when() string { return e.at.UTC().Format("2006-01-02T15:04:05.000Z") }

// page is one page of a listing.
type page struct {
	entries []entry
	more    bool
	silent  bool // about where it goes on
	encoded bool
}

// page makes a page as the request and the quirks say.
func (s *Server) page(r Request, uploads bool, keyMarker, idMarker, most string) page {
	p := page{silent: s.Quirks.DropsMarkers, encoded: value(r, "encoding-type") == "url" && !s.Quirks.NoEncoding}
	size := 1000
	if n, err := strconv.Atoi(value(r, most)); err == nil {
		size = min(size, n)
	}
	if s.Quirks.PageSize > 0 {
		size = min(size, s.Quirks.PageSize)
	}
	key := value(r, keyMarker)
	if s.Quirks.IgnoresMarkers {
		key = ""
	}
	all := s.buckets[r.Bucket].from(value(r, "prefix"), key, uploads, 2*size)
	if key != "" {
		all = s.after(all, key, value(r, idMarker))
	}
	p.entries = all[:min(size, len(all))]
	p.more = len(p.entries) < len(all)
	return p
}

// after is what comes after a marker.
func (s *Server) after(all []entry, key, id string) []entry {
	at := slices.IndexFunc(all, func(e entry) bool { return e.key == key && (e.id == id || id == "") })
	if at < 0 && s.Quirks.LosesMarkers {
		return nil
	}
	next := slices.IndexFunc(all, func(e entry) bool {
		return e.key > key || id != "" && e.key == key && e.id != id && (e.id > id) == e.upload
	})
	if at >= 0 && id != "" {
		next = at + 1
	}
	switch {
	case at >= 0 && s.Quirks.RepeatsAtBorders:
		return all[at:]
	case next < 0:
		return nil
	}
	return all[next:]
}

// head is what a page says of itself.
func (p page) head(keyMarker, idMarker string) string {
	out := fmt.Sprintf("<IsTruncated>%t</IsTruncated>", p.more)
	if p.encoded {
		out += "<EncodingType>url</EncodingType>"
	}
	if last := len(p.entries) - 1; p.more && !p.silent && last >= 0 {
		out += fmt.Sprintf("<%s>%s</%s><%s>%s</%s>", keyMarker, p.text(p.entries[last].key), keyMarker, idMarker, p.entries[last].id, idMarker)
	}
	return out
}

// text writes a key as the listing's reader wants it.
func (p page) text(key string) string {
	if p.encoded {
		return url.QueryEscape(key)
	}
	return escape(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, key))
}

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\r", "&#13;", `"`, "&#34;")

func escape(text string) string { return escaper.Replace(text) }

// value is one value of the query.
func value(r Request, name string) string {
	if values := r.Query[name]; len(values) > 0 {
		return values[0]
	}
	return ""
}

// haunt brings what was deleted and is still listed among the entries; rest takes it out again.
func (b *bucket) haunt() {
	for _, g := range b.ghosts {
		b.add(g.entry)
	}
}

func (b *bucket) rest() {
	for i, g := range b.ghosts {
		b.remove(g.key, g.id, g.upload)
		b.ghosts[i].listings--
	}
	b.ghosts = slices.DeleteFunc(b.ghosts, func(g ghost) bool { return g.listings <= 0 })
}
