package history

import (
	"encoding/json"
	"io"
)

// The JSON of a report; docs/format/detect.md describes it. A number that is not
// finite is null.
type (
	jsonReport struct {
		Format string       `json:"format"`
		Series []jsonSeries `json:"series"`
		Groups []jsonGroup  `json:"groups"`
		Notes  []string     `json:"notes,omitempty"`
		New    jsonNew      `json:"new"`
	}
	jsonNew struct {
		Confirmed int `json:"confirmed"`
		Suspect   int `json:"suspect"`
	}
	jsonSeries struct {
		Benchmark string       `json:"benchmark"`
		Metric    string       `json:"metric"`
		Unit      string       `json:"unit,omitempty"`
		Config    string       `json:"config,omitempty"`
		Better    string       `json:"better,omitempty"`
		Positions int          `json:"positions"`
		First     string       `json:"first"`
		Last      string       `json:"last"`
		Missing   int          `json:"missing,omitempty"`
		Method    string       `json:"method,omitempty"`
		Problem   string       `json:"problem,omitempty"`
		Changes   []jsonChange `json:"changes"`
	}
	jsonChange struct {
		At          string     `json:"at"`
		Index       int        `json:"index"`
		LastGood    string     `json:"last_good"`
		FirstBad    string     `json:"first_bad"`
		Word        string     `json:"word"`
		State       string     `json:"state"`
		Before      *float64   `json:"before"`
		After       *float64   `json:"after"`
		Size        *float64   `json:"size"`
		SizeLow     *float64   `json:"size_low"`
		SizeHigh    *float64   `json:"size_high"`
		Relative    *float64   `json:"relative"`
		Judged      jsonJudged `json:"judged"`
		Environment []string   `json:"environment,omitempty"`
		New         bool       `json:"new"`
		Known       *jsonKnown `json:"known,omitempty"`
		Fix         *jsonFix   `json:"fix,omitempty"`
	}
	jsonJudged struct {
		Rule      string   `json:"rule"`
		Score     *float64 `json:"score"`
		Threshold *float64 `json:"threshold"`
		Visible   *float64 `json:"visible,omitempty"`
		Ratio     *float64 `json:"likelihood_ratio,omitempty"`
		Lag1      *float64 `json:"autocorrelation,omitempty"`
	}
	jsonKnown struct {
		State   string `json:"state"`
		Bug     string `json:"bug,omitempty"`
		FixedIn string `json:"fixed_in,omitempty"`
		Note    string `json:"note,omitempty"`
	}
	jsonFix struct {
		In       string   `json:"in"`
		Verdict  string   `json:"verdict"`
		Reason   string   `json:"reason,omitempty"`
		Left     *float64 `json:"left"`
		LeftLow  *float64 `json:"left_low"`
		LeftHigh *float64 `json:"left_high"`
	}
	jsonGroup struct {
		At       string   `json:"at"`
		Headline string   `json:"headline"`
		Series   []string `json:"series"`
	}
)

func number(v float64) *float64 {
	if !isNumber(v) {
		return nil
	}
	return &v
}

// WriteJSON writes the report as one JSON object.
func (r *Report) WriteJSON(w io.Writer) error {
	out := jsonReport{Format: "dbcanary-detect/1", Series: []jsonSeries{}, Groups: []jsonGroup{}, Notes: r.Notes}
	out.New.Confirmed, out.New.Suspect = r.Judge()
	for _, f := range r.Findings {
		s := jsonSeries{
			Benchmark: f.Series.Benchmark, Metric: f.Series.Metric, Unit: f.Series.Unit, Config: f.Series.Config,
			Better: string(f.Series.Better), Positions: len(f.Positions), Missing: f.Dropped, Method: f.Method,
			Problem: f.Problem, Changes: []jsonChange{},
		}
		if len(f.Positions) > 0 {
			s.First, s.Last = f.Positions[0].Label, f.Positions[len(f.Positions)-1].Label
		}
		for _, c := range f.Changes {
			s.Changes = append(s.Changes, c.json())
		}
		out.Series = append(out.Series, s)
	}
	for _, g := range r.Groups {
		group := jsonGroup{At: g.At, Headline: g.Headline()}
		for _, m := range g.Members {
			group.Series = append(group.Series, name(m.Finding.Series))
		}
		out.Groups = append(out.Groups, group)
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(out)
}

func (c Change) json() jsonChange {
	relative, _, _ := c.Relative()
	out := jsonChange{
		At: c.At, Index: c.at, LastGood: c.LastGood, FirstBad: c.FirstBad, Word: c.Word, State: string(c.State),
		Before: number(c.Before.Median), After: number(c.After.Median),
		Size: number(c.Size), SizeLow: number(c.SizeLow), SizeHigh: number(c.SizeHigh), Relative: number(relative),
		Judged: jsonJudged{
			c.Judged.Rule, number(c.Judged.Score), number(c.Judged.Threshold),
			number(c.Judged.Visible), number(c.Judged.Ratio), number(c.Judged.Lag1),
		},
		Environment: c.Environment, New: c.Known == nil,
	}
	if k := c.Known; k != nil {
		out.Known = &jsonKnown{string(k.State), k.Bug, k.FixedIn, k.Note}
	}
	if x := c.Fix; x != nil {
		out.Fix = &jsonFix{x.In, x.Verdict, x.Reason, number(x.Left), number(x.LeftLow), number(x.LeftHigh)}
	}
	return out
}
