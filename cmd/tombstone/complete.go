package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/tombstone-project/tombstone/services/dependency"
)

const (
	// completionPatience is how long somebody who pressed Tab waits for ids at most.
	completionPatience = 2 * time.Second
	// completedIDs is how many ids are offered.
	completedIDs = 50
)

// completeCmd answers shells: what may stand where the last word is.
type completeCmd struct {
	remote
	Words []string `arg:"" optional:"" help:"The words after tombstone, the last of which is being typed."`
}

// Run prints what may stand there, one a line, and nothing where it does not know.
func (c *completeCmd) Run(p *program, parsed *kong.Context) error {
	if len(c.Words) == 0 {
		return nil
	}
	last := c.Words[len(c.Words)-1]
	at := locate(parsed.Model.Node, c.Words[:len(c.Words)-1])
	for _, word := range at.offer(last, func(statuses []string) []string { return c.deletions(p, statuses) }) {
		if strings.HasPrefix(word, last) {
			if _, err := fmt.Fprintln(p.out, safe(word)); err != nil {
				return err
			}
		}
	}
	return nil
}

// place is where on a command line the next word would stand.
type place struct {
	command  *kong.Node
	flag     *kong.Flag // whose value comes next
	argument int        // number of arguments before
	bare     bool       // after --
}

// locate follows the words.
func locate(root *kong.Node, words []string) place {
	at := place{command: root}
	for _, word := range words {
		switch {
		case at.flag != nil:
			at.flag = nil
		case word == "--" && !at.bare:
			at.bare = true
		case strings.HasPrefix(word, "-") && !at.bare:
			at.flag = at.awaiting(word)
		case !at.enter(word):
			at.argument++
		}
	}
	return at
}

// awaiting is the flag that a word names, when the value is the next word.
func (at *place) awaiting(word string) *kong.Flag {
	for _, f := range at.flags() {
		if word == "--"+f.Name && !f.IsBool() {
			return f
		}
	}
	return nil
}

// enter goes to a command below, when there is one of this name.
func (at *place) enter(name string) bool {
	for _, child := range at.command.Children {
		if child.Name == name && at.argument == 0 {
			at.command = child
			return true
		}
	}
	return false
}

func (at *place) flags() (list []*kong.Flag) {
	for _, group := range at.command.AllFlags(true) {
		list = append(list, group...)
	}
	return list
}

// offer lists what may stand here; deletions gives ids of statuses.
func (at *place) offer(begun string, deletions func(statuses []string) []string) (words []string) {
	switch {
	case at.flag != nil:
		return values(at.flag.Value, deletions)
	case strings.HasPrefix(begun, "-") && !at.bare:
		for _, f := range at.flags() {
			words = append(words, "--"+f.Name)
		}
		return words
	}
	for _, child := range at.command.Children {
		if !child.Hidden && at.argument == 0 {
			words = append(words, child.Name)
		}
	}
	if arguments := at.command.Positional; len(arguments) > 0 {
		if next := arguments[min(at.argument, len(arguments)-1)]; at.argument < len(arguments) || next.IsCumulative() {
			words = append(words, values(next, deletions)...)
		}
	}
	return words
}

// values are those that a flag or an argument takes: of its enumeration, or the deletions of the statuses in its tag.
func values(v *kong.Value, deletions func(statuses []string) []string) []string {
	if v.Enum != "" {
		return v.EnumSlice()
	}
	if statuses := v.Tag.Get("complete"); statuses != "" {
		return deletions(strings.Split(statuses, ","))
	}
	return nil
}

// deletions are the ids of the newest of these statuses; none where the service does not tell soon.
func (c *completeCmd) deletions(p *program, statuses []string) (ids []string) {
	ctx, cancel := context.WithTimeout(p.ctx, completionPatience)
	defer cancel()
	api, err := c.dial()
	if err != nil {
		return nil
	}
	for _, status := range statuses {
		page, err := api.Deletions(ctx, dependency.DeletionQuery{Status: dependency.Status(status), Limit: completedIDs})
		if err != nil {
			return nil
		}
		for _, d := range page.Items {
			ids = append(ids, d.ID)
		}
	}
	return ids
}
