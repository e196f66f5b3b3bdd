package events

import (
	"errors"
	"regexp"
	"strings"
)

// DefaultNamespace is used where Names has none.
const DefaultNamespace = "tombstone"

// Names gives every name on the broker. Two installations with different namespaces can share one: nothing of theirs has
// the same name. The CloudEvents types are the same in every namespace.
type Names struct {
	// Namespace is one that CheckNamespace accepts; empty means DefaultNamespace.
	Namespace string
}

// namespacePattern is what subjects, streams, consumers and collections all take as the beginning of their names.
var namespacePattern = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$`)

// CheckNamespace says what a namespace is made of, when this is none; nil when it may be used.
func CheckNamespace(namespace string) error {
	if !namespacePattern.MatchString(namespace) {
		return errors.New("write 1 to 32 lower-case letters, digits and -, with no - at either end")
	}
	return nil
}

// Stream is one stream: its name and the one filter of its subjects.
type Stream struct {
	Name     string
	Subjects string
}

// Commands is the work queue of erase commands.
func (n Names) Commands() Stream { return n.stream("command", "_COMMANDS") }

// Reports is the work queue from the asset service to the dependency service.
func (n Names) Reports() Stream { return n.stream("report", "_REPORTS") }

// Events is the feed of the audit trail.
func (n Names) Events() Stream { return n.stream("event", "_EVENTS") }

// Dead holds what could not be read.
func (n Names) Dead() Stream { return n.stream("dead", "_DEAD") }

// EraseConsumer is the durable consumer of Commands.
func (n Names) EraseConsumer() string { return n.namespace() + "-erase" }

// ReportConsumer is the durable consumer of Reports.
func (n Names) ReportConsumer() string { return n.namespace() + "-report" }

// Command is the subject of the erase command of one deletion for one asset.
func (n Names) Command(deletion, asset string) string {
	return n.subject("command.erase", deletion, AssetHash(asset))
}

// Report is the subject of a report of a CloudEvents type about an asset.
func (n Names) Report(eventType, asset string) string {
	return n.subject("report", short(eventType), AssetHash(asset))
}

// Event is the subject of an event of a CloudEvents type about an asset.
func (n Names) Event(eventType, asset string) string {
	return n.subject("event", short(eventType), AssetHash(asset))
}

// DeadLetter is the subject on which a message from another subject of ours is buried.
func (n Names) DeadLetter(subject string) string {
	return n.subject("dead", strings.TrimPrefix(subject, n.namespace()+"."))
}

// RPC is the subject of one question that a service answers; endpoint has words separated by dots.
func (n Names) RPC(endpoint string) string { return n.subject("rpc", endpoint) }

// Inbox begins the subjects to which answers to a process of a role come.
func (n Names) Inbox(role string) string { return n.subject("inbox", role) }

// Service is the name of a service of ours among those of the broker's micro services.
func (n Names) Service(name string) string { return n.namespace() + "-" + name }

func (n Names) namespace() string {
	if n.Namespace == "" {
		return DefaultNamespace
	}
	return n.Namespace
}

func (n Names) subject(words ...string) string {
	return n.namespace() + "." + strings.Join(words, ".")
}

func (n Names) stream(word, suffix string) Stream {
	upper := strings.ToUpper(strings.ReplaceAll(n.namespace(), "-", "_"))
	return Stream{Name: upper + suffix, Subjects: n.subject(word, ">")}
}

// short is a CloudEvents type as it stands in subjects: "tombstone.asset.erased.v1" is "asset.erased".
func short(eventType string) string {
	return strings.TrimSuffix(strings.TrimPrefix(eventType, "tombstone."), ".v1")
}
