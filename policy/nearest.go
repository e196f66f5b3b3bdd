package policy

// nearest gives the name that is most like the one written, or "" when none is near: at most a third of the letters
// may differ, and at least one may.
func nearest(written string, names []string) string {
	best, least := "", max(1, len(written)/3)+1
	for _, name := range names {
		if d := distance(written, name); d < least {
			best, least = name, d
		}
	}
	return best
}

// distance is the Levenshtein distance of two texts, in bytes: how many insertions, removals and replacements.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
