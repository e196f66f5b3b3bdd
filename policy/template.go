package policy

// Template is a place with variables.
type Template struct{ text string }
