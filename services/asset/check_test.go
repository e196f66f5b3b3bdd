package asset_test

import (
	"context"
	"testing"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/services/asset"
	"github.com/tombstone-project/tombstone/services/asset/memory"
)

// modes are buckets of another sort than the ones in memory.
type modes struct {
	asset.Blobs
	of map[string]asset.BucketMode
}

func (m modes) Mode(ctx context.Context, bucket string) (asset.BucketMode, error) {
	if mode, ok := m.of[bucket]; ok {
		return mode, nil
	}
	return m.Blobs.Mode(ctx, bucket)
}

func TestEveryBucketIsTold(t *testing.T) {
	w := newWorld(t)
	w.blobs.Block("old", &asset.Blocked{Reason: asset.ReasonAccessDenied})
	w.config.Blobs = modes{w.blobs, map[string]asset.BucketMode{
		"assets": {Versioning: "enabled", ObjectLock: true, Replicated: true}, "thumbs": {Versioning: "off", Hidden: "object lock configuration"},
	}}
	seen, err := asset.NewService(w.config).Stores(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.same("buckets", seen.Buckets, []events.BucketView{
		{Bucket: "assets", Versioning: "enabled", ObjectLock: true, Replicated: true}, {Bucket: "scans", Versioning: "enabled"}, {Bucket: "thumbs", Versioning: "off"},
	})
	var reasons []string
	for _, f := range seen.Findings {
		reasons = append(reasons, f.Bucket+" "+f.Reason)
	}
	w.same("findings", reasons, []string{"assets bucket-replicated", "old access-denied", "thumbs bucket-settings-hidden"})
}

func TestLookAtStores(t *testing.T) {
	tests := map[string]struct {
		change func(w *world)
		want   []events.StoreFinding
	}{
		"all is well": {change: func(*world) {}},
		"a bucket is missing": {
			change: func(w *world) { w.blobs.Block("thumbs", &asset.Blocked{Reason: asset.ReasonBucketMissing}) },
			want:   []events.StoreFinding{{Reason: string(asset.ReasonBucketMissing), Bucket: "thumbs"}},
		},
		"the store removes documents by itself": {
			change: func(w *world) { w.documents.Expire("infos", "by_age") },
			want:   []events.StoreFinding{{Reason: string(asset.ReasonDocumentsExpire)}},
		},
		"versions are off where they are the fence": {
			change: func(w *world) { w.blobs.CreateBucket("scans", memory.Off) },
			want:   []events.StoreFinding{{Fatal: true, Reason: string(asset.ReasonVersioningOff), Kind: "scan", Part: "raw", Bucket: "scans"}},
		},
		"versions are suspended where they are the fence": {
			change: func(w *world) { w.blobs.CreateBucket("scans", memory.Suspended) },
			want:   []events.StoreFinding{{Fatal: true, Reason: string(asset.ReasonVersioningOff), Kind: "scan", Part: "raw", Bucket: "scans"}},
		},
		"versions are off where the place holds the generation": {
			change: func(w *world) { w.blobs.CreateBucket("thumbs", memory.Off) },
		},
		"no store answers": {
			change: func(w *world) { w.steps.dieAt(1) },
			want: []events.StoreFinding{
				{Reason: string(asset.ReasonUnavailable)},
				{Reason: string(asset.ReasonUnavailable), Bucket: "assets"}, {Reason: string(asset.ReasonUnavailable), Bucket: "old"},
				{Reason: string(asset.ReasonUnavailable), Bucket: "scans"}, {Reason: string(asset.ReasonUnavailable), Bucket: "thumbs"},
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			test.change(w)
			found := asset.LookAtStores(t.Context(), w.config).Findings
			for i := range found {
				if found[i].Detail == "" {
					t.Errorf("%+v says nothing to people", found[i])
				}
				found[i].Detail = ""
			}
			w.same("findings", found, test.want)
		})
	}
}
