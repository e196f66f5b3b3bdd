package gaterpc_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/asset/gaterpc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = 30 * time.Second

var names = events.Names{Namespace: "gate-test"}

// startBroker gives the address of a real server in this process.
func startBroker(t *testing.T) string {
	t.Helper()
	s, err := natsserver.NewServer(&natsserver.Options{Host: "127.0.0.1", Port: natsserver.RANDOM_PORT, NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	go s.Start()
	if !s.ReadyForConnections(patience) {
		t.Fatal("the broker does not start")
	}
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	return s.ClientURL()
}

func connect(t *testing.T, url string) *nats.Conn {
	t.Helper()
	closed := make(chan struct{})
	nc, err := nats.Connect(url, nats.ClosedHandler(func(*nats.Conn) { close(closed) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close(); <-closed })
	return nc
}

// serve lends a gate to the broker until the test ends.
func serve(t *testing.T, url string, gate gaterpc.Gate) {
	t.Helper()
	nc := connect(t, url)
	stop, err := gaterpc.Serve(nc, names, nil, gate, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
}

// gate answers with functions.
type gate struct {
	current func(ctx context.Context, questions []events.Question) ([]events.Answer, error)
	admit   func(ctx context.Context, admission events.Admission) (events.Admitted, error)
	grant   func(ctx context.Context, r events.GrantRequest) (events.Granted, error)
	lease   func(ctx context.Context, r events.LeaseRequest) (events.Leased, error)
	renew   func(ctx context.Context, r events.RenewRequest) (events.Leased, error)
}

func (g gate) Current(ctx context.Context, questions []events.Question) ([]events.Answer, error) {
	return g.current(ctx, questions)
}

func (g gate) Admit(ctx context.Context, admission events.Admission) (events.Admitted, error) {
	return g.admit(ctx, admission)
}

func (g gate) Grant(ctx context.Context, r events.GrantRequest) (events.Granted, error) {
	return g.grant(ctx, r)
}

func (g gate) Lease(ctx context.Context, r events.LeaseRequest) (events.Leased, error) {
	return g.lease(ctx, r)
}

func (g gate) Renew(ctx context.Context, r events.RenewRequest) (events.Leased, error) {
	return g.renew(ctx, r)
}

// echo answers each question with its own asset.
func echo(questions []events.Question) []events.Answer {
	answers := make([]events.Answer, len(questions))
	for i, q := range questions {
		answers[i] = events.Answer{Erase: true, Why: q.Asset}
	}
	return answers
}

func questions(n int) (questions []events.Question) {
	for i := range n {
		questions = append(questions, events.Question{Deletion: "d-1", Asset: fmt.Sprintf("asset-%d", i), Generation: "g-1"})
	}
	return questions
}

func TestQuestionsAndAnswersTravelWhole(t *testing.T) {
	url := startBroker(t)
	question := events.Question{Deletion: "d-1", Asset: "scene/🦊", Generation: "g-1", Parts: map[string]string{"raw": "g-2"}}
	answer := events.Answer{Paused: true, Why: "paused", Attributes: map[string]any{"path": "a/b", "n": 1.5}, Owner: "acme", Kind: "mesh"}
	admission := events.Admission{Asset: "a", Part: "description", Owner: "acme", Operator: true, Write: true, LeaseToken: "token"}
	admitted := events.Admitted{Owner: "acme", Kind: "mesh", Generation: "g-1", Attributes: map[string]any{"path": "x"}}
	serve(t, url, gate{
		current: func(_ context.Context, got []events.Question) ([]events.Answer, error) {
			if diff := cmp.Diff([]events.Question{question}, got); diff != "" {
				t.Errorf("question (-want +got):\n%s", diff)
			}
			return []events.Answer{answer}, nil
		},
		admit: func(_ context.Context, got events.Admission) (events.Admitted, error) {
			if diff := cmp.Diff(admission, got); diff != "" {
				t.Errorf("admission (-want +got):\n%s", diff)
			}
			return admitted, nil
		},
	})
	client := gaterpc.Dial(connect(t, url), names, nil, patience)
	answers, err := client.Current(t.Context(), []events.Question{question})
	if diff := cmp.Diff([]events.Answer{answer}, answers); diff != "" || err != nil {
		t.Errorf("answer (-want +got):\n%s%v", diff, err)
	}
	got, err := client.Admit(t.Context(), admission)
	if diff := cmp.Diff(admitted, got); diff != "" || err != nil {
		t.Errorf("admitted (-want +got):\n%s%v", diff, err)
	}
	if answers, err := client.Current(t.Context(), nil); err != nil || len(answers) != 0 {
		t.Errorf("no questions: got %v, %v", answers, err)
	}
}

func TestRightsTravelWhole(t *testing.T) {
	url := startBroker(t)
	until := time.Date(2026, 3, 1, 12, 0, 0, 123_456_000, time.UTC)
	wanted := events.GrantRequest{Asset: "a", Part: "payload", Name: "sub/\u00e9 \u2028.bin", Owner: "acme", Operator: true, TTL: 1500 * time.Millisecond}
	granted := events.Granted{Admitted: events.Admitted{Owner: "acme", Kind: "mesh", Generation: "g-1"}, Until: until}
	asked := events.LeaseRequest{Asset: "a", Owner: "acme", Operator: true, TTL: time.Minute}
	change := events.RenewRequest{Asset: "a", Token: "t", Owner: "acme", Operator: true, TTL: 1, Attributes: map[string]any{"n": 1.5, "gone": nil}}
	leased := events.Leased{Token: "t", Until: until}
	same := func(what string, want, got any) {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	serve(t, url, gate{
		grant: func(_ context.Context, got events.GrantRequest) (events.Granted, error) {
			same("request for a grant", wanted, got)
			return granted, nil
		},
		lease: func(_ context.Context, got events.LeaseRequest) (events.Leased, error) {
			same("request for a lease", asked, got)
			return leased, nil
		},
		renew: func(_ context.Context, got events.RenewRequest) (events.Leased, error) {
			same("change under a lease", change, got)
			return events.Leased{}, problem.New(problem.LeaseLost, "over")
		},
	})
	client := gaterpc.Dial(connect(t, url), names, nil, patience)
	gotGrant, err := client.Grant(t.Context(), wanted)
	same("grant", granted, gotGrant)
	same("its error", nil, err)
	gotLease, err := client.Lease(t.Context(), asked)
	same("lease", leased, gotLease)
	same("its error", nil, err)
	if _, err = client.Renew(t.Context(), change); !errors.Is(err, problem.LeaseLost) {
		t.Errorf("change under a lease: %v, want lease-lost", err)
	}
}

func TestARefusalArrivesAsARefusal(t *testing.T) {
	url := startBroker(t)
	odd := problem.New(problem.Leased, "members that are no JSON").With("f", func() {})
	refusals := map[string]error{
		"gone":   fmt.Errorf("admit: %w", problem.New(problem.Gone, "deleted: %s", "yesterday\nat noon").At("part").With("deletion", "d-1")),
		"odd":    odd,
		"failed": errors.New("secret address of a store"),
	}
	serve(t, url, gate{
		current: func(context.Context, []events.Question) ([]events.Answer, error) { return nil, refusals["gone"] },
		admit: func(_ context.Context, a events.Admission) (events.Admitted, error) {
			if a.Asset == "panic" {
				panic("ouch")
			}
			return events.Admitted{}, refusals[a.Asset]
		},
	})
	client := gaterpc.Dial(connect(t, url), names, nil, patience)
	want := &problem.Problem{Name: problem.Gone, Detail: "deleted: yesterday\nat noon", Field: "part", Members: map[string]any{"deletion": "d-1"}}
	_, err := client.Admit(t.Context(), events.Admission{Asset: "gone"})
	if diff := cmp.Diff(want, problem.As(err)); diff != "" {
		t.Errorf("refusal of Admit (-want +got):\n%s", diff)
	}
	_, err = client.Current(t.Context(), questions(3))
	if diff := cmp.Diff(want, problem.As(err)); diff != "" {
		t.Errorf("refusal of Current (-want +got):\n%s", diff)
	}
	_, err = client.Admit(t.Context(), events.Admission{Asset: "odd"})
	if diff := cmp.Diff(odd, problem.As(err), cmpopts.IgnoreFields(problem.Problem{}, "Members")); diff != "" {
		t.Errorf("refusal with odd members (-want +got):\n%s", diff)
	}
	for _, name := range []string{"failed", "panic"} {
		_, err := client.Admit(t.Context(), events.Admission{Asset: name})
		if !errors.Is(err, problem.Internal) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: want a failure that tells nothing of the inside, got %v", name, err)
		}
	}
}

func TestManyQuestionsAreAskedInSeveralRequests(t *testing.T) {
	url := startBroker(t)
	var requests, most atomic.Int64
	serve(t, url, gate{current: func(_ context.Context, q []events.Question) ([]events.Answer, error) {
		requests.Add(1)
		most.Store(max(most.Load(), int64(len(q))))
		return echo(q), nil
	}})
	client := gaterpc.Dial(connect(t, url), names, nil, patience)
	asked := questions(2345)
	answers, err := client.Current(t.Context(), asked)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(echo(asked), answers); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	if requests.Load() != 5 || most.Load() != 500 {
		t.Errorf("want 5 requests of 500 questions at most, got %d of %d", requests.Load(), most.Load())
	}
}

func TestBigQuestionsAndBigAnswersFitTheBroker(t *testing.T) {
	url := startBroker(t)
	big := func(q []events.Question) []events.Answer {
		answers := echo(q)
		for i := range answers {
			answers[i].Attributes = map[string]any{"path": strings.Repeat("x", 100_000)}
		}
		return answers
	}
	serve(t, url, gate{current: func(_ context.Context, q []events.Question) ([]events.Answer, error) { return big(q), nil }})
	asked := questions(40)
	for i := range asked {
		asked[i].Parts = map[string]string{strings.Repeat("p", 100_000): "g"}
	}
	answers, err := gaterpc.Dial(connect(t, url), names, nil, patience).Current(t.Context(), asked)
	if diff := cmp.Diff(big(asked), answers); diff != "" || err != nil {
		t.Errorf("%v, answers (-want +got):\n%.1000s", err, diff)
	}
}

func TestAnAnswerThatCanNeverFitIsARefusalNotASilence(t *testing.T) {
	url := startBroker(t)
	serve(t, url, gate{current: func(context.Context, []events.Question) ([]events.Answer, error) {
		return []events.Answer{{Attributes: map[string]any{"path": strings.Repeat("x", 2<<20)}}}, nil
	}})
	if _, err := gaterpc.Dial(connect(t, url), names, nil, patience).Current(t.Context(), questions(1)); !errors.Is(err, problem.PayloadTooLarge) {
		t.Errorf("want payload-too-large, got %v", err)
	}
}

func TestWithoutAnAnswerItIsUnavailable(t *testing.T) {
	url := startBroker(t)
	nc := connect(t, url)
	if _, err := gaterpc.Dial(nc, names, nil, patience).Current(t.Context(), questions(1)); !errors.Is(err, problem.Unavailable) {
		t.Errorf("nobody serves: want unavailable, got %v", err)
	}
	release := make(chan struct{})
	serve(t, url, gate{admit: func(context.Context, events.Admission) (events.Admitted, error) {
		<-release
		return events.Admitted{}, nil
	}})
	defer close(release)
	if _, err := gaterpc.Dial(nc, names, nil, 50*time.Millisecond).Admit(t.Context(), events.Admission{}); !errors.Is(err, problem.Unavailable) {
		t.Errorf("no answer in time: want unavailable, got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := gaterpc.Dial(nc, names, nil, patience).Admit(ctx, events.Admission{}); !errors.Is(err, context.Canceled) || errors.Is(err, problem.Unavailable) {
		t.Errorf("the caller gave up: want context.Canceled, got %v", err)
	}
	if _, err := gaterpc.Dial(nc, events.Names{Namespace: "other"}, nil, patience).Admit(t.Context(), events.Admission{}); !errors.Is(err, problem.Unavailable) {
		t.Errorf("another namespace: want unavailable, got %v", err)
	}
}

func TestAWrongNumberOfAnswersIsAFailure(t *testing.T) {
	url := startBroker(t)
	serve(t, url, gate{current: func(context.Context, []events.Question) ([]events.Answer, error) { return nil, nil }})
	if answers, err := gaterpc.Dial(connect(t, url), names, nil, patience).Current(t.Context(), questions(2)); err == nil {
		t.Errorf("want an error, got %v", answers)
	}
}

func TestWhatIsNoQuestionIsRefused(t *testing.T) {
	url := startBroker(t)
	serve(t, url, gate{})
	nc := connect(t, url)
	for _, endpoint := range []string{"gate.current", "gate.admit"} {
		m, err := nc.Request(names.RPC(endpoint), []byte("{cut"), patience)
		if err != nil || m.Header.Get("Nats-Service-Error-Code") != "422" || !strings.Contains(string(m.Data), "invalid-request") {
			t.Errorf("%s: %v, %+v", endpoint, err, m)
		}
	}
}

func TestReplicasShareAndASlowRequestDoesNotHoldOthersUp(t *testing.T) {
	url := startBroker(t)
	var served [2]atomic.Int64
	release := make(chan struct{})
	for i := range served {
		serve(t, url, gate{admit: func(_ context.Context, a events.Admission) (events.Admitted, error) {
			served[i].Add(1)
			if a.Asset == "slow" {
				<-release
			}
			return events.Admitted{Kind: a.Asset}, nil
		}})
	}
	client := gaterpc.Dial(connect(t, url), names, nil, patience)
	var slow sync.WaitGroup
	for range 4 {
		slow.Go(func() {
			if _, err := client.Admit(t.Context(), events.Admission{Asset: "slow"}); err != nil {
				t.Errorf("slow: %v", err)
			}
		})
	}
	for i := range 100 {
		if got, err := client.Admit(t.Context(), events.Admission{Asset: fmt.Sprint(i)}); err != nil || got.Kind != fmt.Sprint(i) {
			t.Errorf("request %d: %+v, %v", i, got, err)
		}
	}
	close(release)
	slow.Wait()
	if a, b := served[0].Load(), served[1].Load(); a == 0 || b == 0 || a+b != 104 {
		t.Errorf("served: want each request once, by both, got %d and %d", a, b)
	}
}

func TestAStopAnswersWhatIsInHand(t *testing.T) {
	url := startBroker(t)
	nc := connect(t, url)
	started, release := make(chan struct{}), make(chan struct{})
	stop, err := gaterpc.Serve(nc, names, nil, gate{admit: func(context.Context, events.Admission) (events.Admitted, error) {
		close(started)
		<-release
		return events.Admitted{Kind: "answered"}, nil
	}}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	client := gaterpc.Dial(connect(t, url), names, nil, patience)
	answer := make(chan error, 1)
	go func() {
		got, err := client.Admit(t.Context(), events.Admission{})
		if err == nil && got.Kind != "answered" {
			err = fmt.Errorf("got %+v", got)
		}
		answer <- err
	}()
	<-started
	stopped := make(chan error, 1)
	go func() { stopped <- stop() }()
	close(release)
	if err := <-answer; err != nil {
		t.Errorf("the request in hand: %v", err)
	}
	if err := <-stopped; err != nil {
		t.Errorf("stop: %v", err)
	}
	if _, err := client.Admit(t.Context(), events.Admission{}); !errors.Is(err, problem.Unavailable) {
		t.Errorf("after the stop: want unavailable, got %v", err)
	}
}

// With keys, only somebody who has one is answered, and believed; an answer holds for its one question.
func TestWhoHasNoKeyIsNeitherAnsweredNorBelieved(t *testing.T) {
	url := startBroker(t)
	keys := events.Keys{strings.Repeat("k", 32)}
	asked := make(chan string, 10)
	nc := connect(t, url)
	stop, err := gaterpc.Serve(nc, names, keys, gate{admit: func(_ context.Context, a events.Admission) (events.Admitted, error) {
		asked <- a.Asset
		if a.Asset == "refused" {
			return events.Admitted{}, problem.New(problem.Gone, "it is gone")
		}
		return events.Admitted{Kind: a.Asset}, nil
	}}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	with := gaterpc.Dial(connect(t, url), names, keys, patience)
	if got, err := with.Admit(t.Context(), events.Admission{Asset: "a"}); err != nil || got.Kind != "a" {
		t.Errorf("with the key: %+v, %v", got, err)
	}
	if _, err := with.Admit(t.Context(), events.Admission{Asset: "refused"}); !errors.Is(err, problem.Gone) {
		t.Errorf("a refusal: %v", err)
	}
	for name, other := range map[string]events.Keys{"without a key": nil, "with another key": {strings.Repeat("x", 32)}} {
		if _, err := gaterpc.Dial(connect(t, url), names, other, patience).Admit(t.Context(), events.Admission{Asset: "b"}); !errors.Is(err, problem.Unavailable) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if close(asked); len(asked) != 2 {
		t.Errorf("the gate was asked %d times, want 2", len(asked))
	}
	forger(t, url, with)
}

// forger answers the questions of a client in place of the gate, with what a gate could have said.
func forger(t *testing.T, url string, client *gaterpc.Client) {
	t.Helper()
	nc := connect(t, url)
	var old *nats.Msg // an answer that was genuine, to another question
	answers := map[string]func(m *nats.Msg) *nats.Msg{
		"not signed": func(*nats.Msg) *nats.Msg { return &nats.Msg{Data: []byte(`{"kind":"forged"}`)} },
		"signed as the question": func(m *nats.Msg) *nats.Msg {
			return &nats.Msg{Data: []byte(`{"kind":"forged"}`), Header: m.Header}
		},
		"an old answer": func(*nats.Msg) *nats.Msg { return &nats.Msg{Data: old.Data, Header: old.Header} },
		"an old answer, with an error": func(*nats.Msg) *nats.Msg {
			h := nats.Header{"Nats-Service-Error-Code": {"410"}, events.HeaderSignature: old.Header[events.HeaderSignature]}
			return &nats.Msg{Data: old.Data, Header: h}
		},
	}
	keys := events.Keys{strings.Repeat("k", 32)}
	body := []byte(`{"kind":"genuine"}`)
	old = &nats.Msg{Data: body, Header: nats.Header{events.HeaderSignature: {keys.Sign("answer", []byte("of another question"), nil, body)}}}
	for name, answer := range answers {
		sub, err := nc.Subscribe(names.RPC("gate.admit"), func(m *nats.Msg) {
			reply := answer(m)
			reply.Subject = m.Reply
			if err := nc.PublishMsg(reply); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := nc.Flush(); err != nil {
			t.Fatal(err)
		}
		if got, err := client.Admit(t.Context(), events.Admission{Asset: "c"}); !errors.Is(err, problem.Unavailable) || got.Kind != "" {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if err := sub.Unsubscribe(); err != nil {
			t.Fatal(err)
		}
	}
}
