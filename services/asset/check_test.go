package asset_test

import (
	"testing"

	"github.com/tombstone-project/tombstone/services/asset"
	"github.com/tombstone-project/tombstone/services/asset/memory"
)

func TestCheckStores(t *testing.T) {
	tests := map[string]struct {
		change func(w *world)
		want   []asset.Finding
	}{
		"all is well": {change: func(*world) {}},
		"a bucket is missing": {
			change: func(w *world) { w.blobs.Block("thumbs", &asset.Blocked{Reason: asset.ReasonBucketMissing}) },
			want:   []asset.Finding{{Reason: asset.ReasonBucketMissing, Bucket: "thumbs"}},
		},
		"versions are off where they are the fence": {
			change: func(w *world) { w.blobs.CreateBucket("scans", memory.Off) },
			want:   []asset.Finding{{Fatal: true, Reason: asset.ReasonVersioningOff, Kind: "scan", Part: "raw", Bucket: "scans"}},
		},
		"versions are suspended where they are the fence": {
			change: func(w *world) { w.blobs.CreateBucket("scans", memory.Suspended) },
			want:   []asset.Finding{{Fatal: true, Reason: asset.ReasonVersioningOff, Kind: "scan", Part: "raw", Bucket: "scans"}},
		},
		"versions are off where the place holds the generation": {
			change: func(w *world) { w.blobs.CreateBucket("thumbs", memory.Off) },
		},
		"no store answers": {
			change: func(w *world) { w.steps.dieAt(1) },
			want: []asset.Finding{
				{Reason: asset.ReasonUnavailable},
				{Reason: asset.ReasonUnavailable, Bucket: "assets"}, {Reason: asset.ReasonUnavailable, Bucket: "old"},
				{Reason: asset.ReasonUnavailable, Bucket: "scans"}, {Reason: asset.ReasonUnavailable, Bucket: "thumbs"},
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			test.change(w)
			found := asset.CheckStores(t.Context(), w.config)
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
