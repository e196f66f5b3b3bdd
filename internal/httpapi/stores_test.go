package httpapi_test

import (
	"testing"

	wire "github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/services/asset"
)

func TestStores(t *testing.T) {
	c, s := serve(t)
	none := c.call("GET", "/v1/admin/stores", "").want(200).json()
	for _, list := range []string{"buckets", "findings"} {
		if got, ok := none[list].([]any); !ok || len(got) != 0 {
			t.Errorf("%s: %v, want an empty list", list, none[list])
		}
	}
	s.SetStores(wire.StoresView{
		Buckets:  []wire.BucketView{{Bucket: "assets", Versioning: "enabled", ObjectLock: true}},
		Findings: []wire.StoreFinding{{Fatal: true, Reason: string(asset.ReasonVersioningOff), Kind: "scan", Part: "raw", Bucket: "scans", Detail: "enable it"}},
	})
	found := c.call("GET", "/v1/admin/stores", "").want(200).json()
	bucket, _ := found["buckets"].([]any)[0].(map[string]any)
	if bucket["bucket"] != "assets" || bucket["versioning"] != "enabled" || bucket["object_lock"] != true || bucket["replicated"] != false {
		t.Errorf("bucket: %v", bucket)
	}
	finding, _ := found["findings"].([]any)[0].(map[string]any)
	if finding["fatal"] != true || finding["reason"] != "versioning-off" || finding["part"] != "raw" || finding["detail"] != "enable it" {
		t.Errorf("finding: %v", finding)
	}
}
