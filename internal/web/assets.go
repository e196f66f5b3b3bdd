package web

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/tombstone-project/tombstone/internal/safetext"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// assetsData is a page of the list of assets, of a status where that was asked for.
type assetsData struct {
	Status dependency.Status
	Items  []dependency.Asset
	Next   string
}

func (s *Site) assets(r *http.Request) (view, error) {
	asked := r.URL.Query()
	data := assetsData{Status: dependency.Status(asked.Get("status"))}
	page, err := s.cfg.Service.Assets(r.Context(), dependency.AssetQuery{Kind: asked.Get("kind"), Status: data.Status, Owner: asked.Get("owner"),
		Cursor: asked.Get("cursor"), Limit: 100})
	if err != nil {
		return view{}, err
	}
	data.Items, data.Next = page.Items, following("/assets", asked, page.NextCursor)
	return view{name: "assets", title: "Assets", data: data}, nil
}

// assetData is what the page of one asset shows.
type assetData struct {
	forms
	dependency.Asset
	Dependants dependency.Page[dependency.Dependant]
	MoreAfter  string // address of the next dependants
	Picture    picture
	PartNames  []string
	Lines      []string // of the attributes, as JSON
	Operator   bool
	MayDelete  bool
	MayHold    bool
	foresight
}

// assetPage is the address of an asset's page.
func assetPage(id string) string { return relative("/asset", url.Values{"id": {id}}) }

func (s *Site) asset(r *http.Request) (view, error) {
	data, err := s.oneAsset(r)
	if err == nil && data.MayDelete {
		err = s.foresee(r.Context(), &data, dependency.PlanRequest{GraphOnly: true})
		if p := problem.As(err); p != nil && p.Name != problem.Unavailable { // the deletion would be refused as the plan is
			data.Unknown, err = p.Detail, nil
		}
	}
	if err == nil && data.Operator && data.Hold == nil {
		data.MayHold, err = s.mayHold(r.Context(), data.Asset)
	}
	return view{name: "asset", title: "Asset " + data.ID, data: &data}, err
}

// oneAsset reads an asset with a page of what depends on it.
func (s *Site) oneAsset(r *http.Request) (assetData, error) {
	ctx, asked := r.Context(), r.URL.Query()
	a, err := s.cfg.Service.Asset(ctx, asked.Get("id"))
	if err != nil {
		return assetData{}, err
	}
	who, _ := dependency.CallerFrom(ctx)
	data := assetData{Asset: a, PartNames: slices.Sorted(maps.Keys(a.Parts)), Operator: who.Operator, MayDelete: a.Status == dependency.Live}
	if data.Dependants, err = s.cfg.Service.Dependants(ctx, a.ID, asked.Get("cursor")); err != nil {
		return assetData{}, err
	}
	data.MoreAfter = following("/asset", asked, data.Dependants.NextCursor)
	data.Picture = draw(a, data.Dependants, nil)
	if len(a.Attributes) > 0 {
		text, err := json.MarshalIndent(a.Attributes, "", "  ")
		if err != nil {
			return assetData{}, err
		}
		data.Lines = strings.Split(string(text), "\n")
	}
	return data, nil
}

// mayHold tells whether an asset can be held still: while it is live, or its deletion only scheduled.
func (s *Site) mayHold(ctx context.Context, a dependency.Asset) (bool, error) {
	if a.Status != dependency.Deleting {
		return a.Status == dependency.Live, nil
	}
	d, err := s.cfg.Service.Deletion(ctx, a.Deletion, "")
	return d.Status == dependency.Scheduled, err
}

// typed tells whether somebody typed a name: as it is, or as we show it.
func typed(text, name string) bool {
	return name != "" && (text == name || text == safetext.Escape(name))
}

// auditData is a page of an asset's trail.
type auditData struct {
	Asset string
	Items []dependency.AuditItem
	Next  string
}

func (s *Site) audit(r *http.Request) (view, error) {
	asked := r.URL.Query()
	data := auditData{Asset: asked.Get("asset")}
	if data.Asset == "" {
		return view{name: "audit", title: "Audit trail", data: data}, nil
	}
	page, err := s.cfg.Service.Audit(r.Context(), data.Asset, asked.Get("cursor"))
	if err != nil {
		return view{}, err
	}
	data.Items, data.Next = page.Items, following("/audit", asked, page.NextCursor)
	return view{name: "audit", title: "Audit trail of " + data.Asset, data: data}, nil
}

// usageData is what an owner uses.
type usageData struct {
	Owner string
	dependency.UsageView
}

func (s *Site) usage(r *http.Request) (view, error) {
	who, _ := dependency.CallerFrom(r.Context())
	data := usageData{Owner: r.URL.Query().Get("owner")}
	if data.Owner == "" {
		data.Owner = who.Owner
	}
	var err error
	data.UsageView, err = s.cfg.Service.Usage(r.Context(), data.Owner)
	return view{name: "usage", title: "Usage of " + data.Owner, data: data}, err
}

// pendingData is a page of the command flags.
type pendingData struct {
	forms
	Items []pendingRow
	Next  string
	Done  string // what a replay did
}

type pendingRow struct {
	dependency.PendingFlag
	Age, Left string
}

func (s *Site) pending(r *http.Request) (view, error) {
	asked := r.URL.Query()
	page, err := s.cfg.Service.Pending(r.Context(), asked.Get("cursor"))
	if err != nil {
		return view{}, err
	}
	data := pendingData{}
	if driven, err := strconv.Atoi(asked.Get("driven")); err == nil { // whatever else a link says is not ours
		data.Done = count(driven, "deletion")
	}
	asked.Del("driven")
	data.Next = following("/pending", asked, page.NextCursor)
	now := s.cfg.Now()
	for _, flag := range page.Items {
		data.Items = append(data.Items, pendingRow{flag, span(now.Sub(flag.Since)), left(flag.DueAt, now)})
	}
	return view{name: "pending", title: "Pending commands", data: &data}, nil
}

// replay publishes one deletion's flags, or all.
func (s *Site) replay(r *http.Request) (string, error) {
	drive := dependency.Drive{All: r.PostFormValue("all") == "true"}
	if id := r.PostFormValue("id"); id != "" {
		drive.Deletions = []string{id}
	}
	driven, err := s.cfg.Service.Replay(r.Context(), drive)
	return relative("/pending", url.Values{"driven": {strconv.Itoa(driven.Driven)}}), err
}
