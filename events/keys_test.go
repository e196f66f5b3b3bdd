package events

import (
	"fmt"
	"strings"
	"testing"
)

var (
	oldKey = strings.Repeat("o", 32)
	newKey = strings.Repeat("n", 32)
)

func TestASignatureHoldsForOneTextAndOneKey(t *testing.T) {
	keys := Keys{newKey, oldKey}
	signature := keys.Sign("message", []byte("subject"), []byte("body"))
	for name, c := range map[string]struct {
		keys      Keys
		signature string
		kind      string
		parts     []string
		want      bool
	}{
		"the same":              {keys, signature, "message", []string{"subject", "body"}, true},
		"no keys":               {nil, "", "message", nil, true},
		"only the new key":      {Keys{newKey}, signature, "message", []string{"subject", "body"}, true},
		"only the old key":      {Keys{oldKey}, signature, "message", []string{"subject", "body"}, false},
		"signed with the old":   {keys, Keys{oldKey}.Sign("message", []byte("subject"), []byte("body")), "message", []string{"subject", "body"}, true},
		"no signature":          {keys, "", "message", []string{"subject", "body"}, false},
		"no base64":             {keys, "?" + signature, "message", []string{"subject", "body"}, false},
		"cut":                   {keys, signature[:20], "message", []string{"subject", "body"}, false},
		"another kind":          {keys, signature, "answer", []string{"subject", "body"}, false},
		"another body":          {keys, signature, "message", []string{"subject", "Body"}, false},
		"parts cut differently": {keys, signature, "message", []string{"subjectb", "ody"}, false},
		"a part less":           {keys, signature, "message", []string{"subjectbody"}, false},
	} {
		var parts [][]byte
		for _, p := range c.parts {
			parts = append(parts, []byte(p))
		}
		if got := c.keys.Verify(c.signature, c.kind, parts...); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	if got := (Keys{}).Sign("message"); got != "" {
		t.Errorf("without keys: %q", got)
	}
}

func TestKeysAreReadAndNotPrinted(t *testing.T) {
	keys, err := ParseKeys(" " + newKey + "\n" + oldKey + "\n")
	if err != nil || len(keys) != 2 || keys[0] != newKey {
		t.Fatalf("%d keys, %v", len(keys), err)
	}
	for _, printed := range []string{fmt.Sprint(keys), fmt.Sprintf("%+v", keys), fmt.Sprintf("%#v", struct{ K Keys }{keys}), fmt.Sprintf("%q", keys)} {
		if strings.Contains(printed, "nnn") {
			t.Errorf("printed: %s", printed)
		}
	}
	for _, text := range []string{"", " \n", "short", newKey + " short"} {
		if _, err := ParseKeys(text); err == nil || strings.Contains(err.Error(), "nnn") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
