package httpapi

import "github.com/tombstone-project/tombstone/services/dependency"

// Lists and maps in answers are empty rather than null.

func filled[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func filledAsset(a dependency.Asset) dependency.Asset {
	a.Links = filled(a.Links)
	if a.Attributes == nil {
		a.Attributes = map[string]any{}
	}
	if a.Parts == nil {
		a.Parts = map[string]dependency.PartView{}
	}
	return a
}

func filledDeletion(d dependency.Deletion) dependency.Deletion {
	d.Steps = filled(d.Steps)
	return d
}

func filledDeletions(page dependency.Page[dependency.Deletion]) dependency.Page[dependency.Deletion] {
	page.Items = filled(page.Items)
	for i := range page.Items {
		page.Items[i] = filledDeletion(page.Items[i])
	}
	return page
}
