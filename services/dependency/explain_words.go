package dependency

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// say finds the first thing that stands in the way, and what may be done about it.
func (x *Explanation) say(c circumstances) {
	d := c.d
	switch {
	case d.Status == Deleted:
		x.WaitsFor, x.Since = c.completed(), &d.CompletedAt
		x.MayDo = []string{"tombstone receipt " + d.ID}
	case d.Status == Cancelled:
		x.WaitsFor = "nothing: it was cancelled, its assets are live"
	case c.paused:
		x.WaitsFor = fmt.Sprintf("physical deletion is paused by %s%s; nothing is published or erased until it is resumed", c.pause.By, because(c.pause.Reason))
		x.Since, x.MayDo = &c.pause.At, append([]string{"tombstone resume"}, d.mayCancel()...)
	case len(c.held) > 0:
		x.sayHeld(c)
	case d.Status == Scheduled:
		x.sayScheduled(c)
	case d.Blocked != nil:
		x.sayBlocked(c)
	case len(c.waitsFor) > 0:
		x.WaitsFor, x.Since = fmt.Sprintf("deletion %s of one of its parts, which began earlier", c.waitsFor[0]), c.begun()
		x.MayDo = []string{"tombstone explain " + c.waitsFor[0]}
	case len(c.unsent) > 0:
		x.sayUnsent(c)
	case x.LastError != "":
		x.WaitsFor, x.Since = "the asset service, whose last try failed; it tries again by itself", c.begun()
		x.MayDo = []string{"remove the cause, then: tombstone retry " + d.ID}
	case x.Stalled:
		x.WaitsFor, x.Since = hasCommand, c.begun()
		x.MayDo = []string{"look whether an asset service answers (tombstone doctor), then: tombstone retry " + d.ID}
	default:
		x.WaitsFor, x.Since = hasCommand, c.begun()
		x.MayDo = []string{"tombstone retry " + d.ID}
	}
}

// hasCommand is what a deletion waits for that nothing stands in the way of.
const hasCommand = "the asset service, which has the command"

// completed says how it ended: what an operator gave up was not seen to be absent.
func (c *circumstances) completed() string {
	forced := 0
	for _, e := range c.erasures {
		for _, step := range e.Steps {
			if step.Forced != "" {
				forced++
			}
		}
	}
	if forced == 0 {
		return "nothing: it is completed, every part was seen to be absent"
	}
	return fmt.Sprintf("nothing: it is completed, but %d of its parts were given up by an operator and not verified", forced)
}

// sayUnsent tells of the first command that waits: its next try is when its claim ends, and it fails with what this process
// met at the broker. That may be about another deletion's command, so it is for operators.
func (x *Explanation) sayUnsent(c circumstances) {
	first := c.unsent[0]
	x.WaitsFor, x.Since = "its command has not reached the broker yet; it is published again by itself", &first.Since
	x.MayDo = []string{"look at the broker (tombstone doctor), then: tombstone replay " + c.d.ID}
	if c.fault != nil {
		x.LastError = c.fault.Error()
	}
	if first.ClaimedUntil.After(c.now) {
		x.NextTry = &first.ClaimedUntil
	}
}

func (x *Explanation) sayHeld(c circumstances) {
	x.WaitsFor, x.Since = fmt.Sprintf("the legal hold on %q; it stays scheduled until that is released", c.held[0]), &c.d.RequestedAt
	if more := len(c.held) - 1; more > 0 {
		x.WaitsFor = fmt.Sprintf("the legal holds on %q and %d more of its assets; it stays scheduled until all are released", c.held[0], more)
	}
	for _, id := range c.held[:min(len(c.held), namesShown)] {
		x.MayDo = append(x.MayDo, "tombstone release "+shellWord(id))
	}
	x.MayDo = append(x.MayDo, c.d.mayCancel()...)
}

func (x *Explanation) sayScheduled(c circumstances) {
	d := c.d
	x.WaitsFor, x.Since, x.NextTry = "its due time, "+d.DueAt.Format(time.RFC3339), &d.RequestedAt, &d.DueAt
	if !d.DueAt.After(c.now) {
		x.WaitsFor, x.Since, x.NextTry = "its turn: it is due, and begins within seconds", &d.DueAt, nil
	}
	x.MayDo = d.mayCancel()
}

func (x *Explanation) sayBlocked(c circumstances) {
	d, b := c.d, c.d.Blocked
	what := fmt.Sprintf("%q", b.Asset)
	if b.Part != "" {
		what = fmt.Sprintf("part %q of %q", b.Part, b.Asset)
	}
	x.WaitsFor, x.Since = what+": "+b.Reason, c.blockedSince
	if b.Until != nil {
		x.WaitsFor += ", until " + b.Until.Format(time.RFC3339)
	}
	for _, cause := range x.Causes {
		if cause.Asset == b.Asset && (cause.Part == b.Part || b.Part == "") && cause.LastError != "" {
			x.LastError, x.NextTry = cause.LastError, cause.NextTry
			break
		}
	}
	x.MayDo = []string{
		"remove the cause, then: tombstone retry " + d.ID,
		"if the store is gone for good, give the part up: tombstone force " + d.ID + " --part " + shellWord(cmp.Or(b.Part, "PART")) + " --reason WHY",
	}
}

// because says a reason in brackets, where there is one.
func because(reason string) string {
	if reason == "" {
		return ""
	}
	return " (" + reason + ")"
}

// begun is since when the asset service may have the command.
func (c *circumstances) begun() *time.Time {
	if c.d.SentAt.IsZero() {
		return &c.d.DueAt
	}
	return &c.d.SentAt
}

// mayCancel is the command that takes the deletion back, while that can be done.
func (d DeletionRecord) mayCancel() []string {
	if d.Status != Scheduled {
		return nil
	}
	return []string{"tombstone cancel " + d.ID}
}

// shellWord makes an id one word of a shell's command line, and no flag.
func shellWord(s string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@%+=,"
	quoted := s
	if strings.Trim(s, plain) != "" {
		quoted = "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	if strings.HasPrefix(s, "-") {
		return "-- " + quoted
	}
	return quoted
}
