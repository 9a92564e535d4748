package planfile

import (
	_ "embed"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/dbcanary/dbcanary"
)

//go:embed init.yaml
var template string

// initTargets are those of the template.
const initTargets = "- postgres@17\n- postgres@18\n"

// Init gives a plan file that explains every key and its default, with the targets
// given, or two that can be had anywhere.
func Init(targets []string) (string, error) {
	if len(targets) == 0 {
		return template, nil
	}
	text := ""
	for _, target := range targets {
		scalar, err := yaml.Marshal(target)
		if err != nil {
			return "", err
		}
		text += "- " + string(scalar)
	}
	return strings.Replace(template, initTargets, text, 1), nil
}

// keys collects the keys of a file that is written.
type keys struct {
	mapping yaml.Node
	err     error
}

// add adds a key with a comment after its value; lists are written on one line.
func (k *keys) add(key string, value any, comment string) *yaml.Node {
	node := &yaml.Node{}
	if err := node.Encode(value); err != nil && k.err == nil {
		k.err = fmt.Errorf("write %s: %w", key, err)
	}
	if node.Kind == yaml.SequenceNode {
		node.Style = yaml.FlowStyle
	}
	node.LineComment = comment
	k.mapping.Content = append(k.mapping.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}, node)
	return node
}

// Write writes a plan as a plan file with every default filled in: what run would
// do, but for a seed that is still to be drawn. An expected number of instances
// stands in a comment, since the clock decides.
func Write(w io.Writer, file File, p dbcanary.Plan, expected int) error {
	k := &keys{mapping: yaml.Node{Kind: yaml.MappingNode}}
	if p.Classic() {
		k.add("mode", string(p.Mode), "")
	}
	k.what(file, p)
	k.add("tables", p.Tables, "")
	k.add("table-size", p.TableSize, "")
	if len(file.Threads) == 1 {
		k.add("threads", file.Threads[0], "")
	} else {
		k.add("threads", file.Threads, "")
	}
	k.add("ps-mode", p.PSMode, "")
	k.add("placement", string(p.Placement), "")
	if p.BudgetNs > 0 {
		k.add("time", short(p.BudgetNs), "")
	}
	k.add("slice", time.Duration(p.SliceNs).String(), "")
	k.add("warmup", time.Duration(p.WarmupNs).String(), "")
	k.add("blocks", p.Blocks, "")
	comment := fmt.Sprintf("the most; about %d fit into the time", expected)
	switch {
	case p.Classic():
		comment = "of each target, one after the other"
	case p.Instances == 0:
		comment = fmt.Sprintf("as many as fit into the time: about %d", expected)
	}
	k.add("instances", p.Instances, comment)
	if number, err := strconv.ParseFloat(strings.Join(file.MinEffect, ","), 64); err == nil {
		k.add("min-effect", number, "percent")
	} else {
		k.add("min-effect", file.MinEffect, "percent")
	}
	k.add("adaptive", file.Adaptive, "")
	comment = ""
	if p.Seed == 0 {
		comment = "drawn and stored when the run begins"
	}
	k.add("seed", p.Seed, comment)
	if len(p.Profile) > 0 {
		k.add("profile", p.Profile, "once a run, not within its time")
	}
	if p.Waits != "" {
		k.add("waits", p.Waits, "")
	}
	if k.err != nil {
		return k.err
	}
	encoder := yaml.NewEncoder(w)
	encoder.SetIndent(2)
	if err := encoder.Encode(&k.mapping); err != nil {
		return fmt.Errorf("write the plan: %w", err)
	}
	return encoder.Close()
}

// what adds which targets and benchmarks are measured.
func (k *keys) what(file File, p dbcanary.Plan) {
	if file.About != "" {
		k.add("about", file.About, "")
	}
	if len(file.Hosts) > 0 {
		k.add("hosts", file.Hosts, "")
	}
	k.add("targets", baseNames(p.Targets), "").Style = 0
	if len(p.Bases) > 0 {
		k.add("base", p.Bases, "")
	}
	if p.Suite != "" {
		k.add("suite", p.Suite, countText(len(p.Benchmarks), "benchmark"))
	} else if len(file.Benchmarks) > 0 {
		k.add("benchmarks", file.Benchmarks, "").Style = 0
	}
	k.own(file)
	if len(file.Groups) == 0 {
		return
	}
	groups := &keys{mapping: yaml.Node{Kind: yaml.MappingNode}}
	for _, group := range file.Groups {
		groups.add(group.Key, group.Value, "")
	}
	k.add("groups", &groups.mapping, "")
}

// own adds the workloads of the user.
func (k *keys) own(file File) {
	for _, list := range []struct {
		key   string
		value []string
	}{{"workload", file.Workload}, {"pgbench", file.Pgbench}, {"define", file.Define}} {
		if len(list.value) > 0 {
			k.add(list.key, list.value, "")
		}
	}
	if file.Scale > 0 {
		k.add("pgbench-scale", file.Scale, "")
	}
	for _, text := range []struct{ key, value string }{{"query", file.Query}, {"create", file.Create}, {"delimiter", file.Delimiter}} {
		if text.value != "" {
			k.add(text.key, text.value, "")
		}
	}
}

// baseNames are the targets as a user writes them; the same one may be there twice.
func baseNames(targets []string) []string {
	names := make([]string, len(targets))
	for i, name := range targets {
		names[i] = BaseName(name)
	}
	return names
}

// short is a time without the zeroes of time.Duration: "10m", not "10m0s".
func short(ns int64) string {
	text := time.Duration(ns).String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}
