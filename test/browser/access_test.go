package browser

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"
)

// mustBeNamed are the roles that a screen reader reads out by their names.
var mustBeNamed = []string{"RootWebArea", "link", "button", "textbox", "searchbox", "combobox", "checkbox", "heading", "columnheader", "rowheader", "image", "navigation", "region",
	"DisclosureTriangle"}

// landmarks are those that each page has once.
var landmarks = []string{"banner", "main", "contentinfo"}

// tree gives the role and the name of every node that assistive technology is shown.
func (tb *tab) tree() (nodes []node) {
	tb.t.Helper()
	tb.do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		full, err := cdp.Call(ctx, target, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
		if err != nil {
			return err
		}
		for _, n := range full.Nodes {
			if !n.Ignored {
				nodes = append(nodes, node{text(n.Role), text(n.Name)})
			}
		}
		return nil
	}))
	return nodes
}

type node struct{ role, name string }

// text is a value of the tree, when it is a text.
func text(v *accessibility.Value) (s string) {
	if v != nil {
		_ = json.Unmarshal(v.Value, &s)
	}
	return strings.TrimSpace(s)
}

// testTree looks at each page as Chromium gives it to assistive technology.
func testTree(t *testing.T, chrome context.Context) {
	w := newWorld(t)
	tb := newTab(t, chrome, w.url)
	for name, v := range w.full("x") {
		tb.visit(v)
		count := map[string]int{}
		for _, n := range tb.tree() {
			count[n.role]++
			if n.name == "" && slices.Contains(mustBeNamed, n.role) {
				t.Errorf("%s: a %s has no name", name, n.role)
			}
		}
		for _, role := range landmarks {
			if count[role] != 1 {
				t.Errorf("%s: %d of %s", name, count[role], role)
			}
		}
		if count["link"] == 0 || count["heading"] == 0 {
			t.Errorf("%s: the tree was not read: %v", name, count)
		}
	}
}
