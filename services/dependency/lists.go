package dependency

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// distinct sorts and removes repeats and the empty string.
func distinct(list []string) []string {
	slices.Sort(list)
	list = slices.Compact(list)
	if len(list) > 0 && list[0] == "" {
		list = list[1:]
	}
	return list
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func compareLinks(a, b LinkTo) int {
	return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.To, b.To))
}

// quoteAll lists names for a sentence.
func quoteAll(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = strconv.Quote(n)
	}
	return strings.Join(quoted, ", ")
}

// quoteSome lists the first ids for a sentence.
func quoteSome(ids []string, total int) string {
	const few = 3
	if len(ids) > few {
		ids = ids[:few]
	}
	list := quoteAll(ids)
	if total > len(ids) {
		list += ", …"
	}
	return strings.TrimSpace(list)
}
