package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/dbcanary/dbcanary"
)

// The JUnit form, as Jenkins, GitLab and GitHub's test reporters read it: a suite
// for each target and base, a case for each benchmark. There is no standard; these
// are the elements and attributes that all of them take, in the order of the
// schema that Jenkins' xUnit plugin holds (junit-10.xsd).
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Skipped  int          `xml:"skipped,attr"`
		Time     string       `xml:"time,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name       string          `xml:"name,attr"`
		Tests      int             `xml:"tests,attr"`
		Failures   int             `xml:"failures,attr"`
		Errors     int             `xml:"errors,attr"`
		Skipped    int             `xml:"skipped,attr"`
		Time       string          `xml:"time,attr"`
		Timestamp  string          `xml:"timestamp,attr,omitempty"`
		Hostname   string          `xml:"hostname,attr,omitempty"`
		Properties []junitProperty `xml:"properties>property"`
		Cases      []junitCase     `xml:"testcase"`
		Out        string          `xml:"system-out,omitempty"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Name      string        `xml:"name,attr"`
		ClassName string        `xml:"classname,attr"`
		Time      string        `xml:"time,attr"`
		Skipped   *junitMessage `xml:"skipped"`
		Failure   *junitMessage `xml:"failure"`
		Out       string        `xml:"system-out"`
	}
	junitMessage struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
)

// writeJUnit writes test results: slower is a failure, inconclusive is skipped.
func (r *Report) writeJUnit(w io.Writer, _ Options) error {
	all := junitSuites{Name: fmt.Sprintf("dbcanary run %d", r.Run.ID)}
	seconds := 0.0
	for _, view := range r.views() {
		for _, target := range view.compared() {
			suite, spent := view.junitSuite(target)
			all.Suites = append(all.Suites, suite)
			all.Tests, all.Failures, all.Skipped = all.Tests+suite.Tests, all.Failures+suite.Failures, all.Skipped+suite.Skipped
			seconds += spent
		}
	}
	all.Time = secondsText(seconds)
	text, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, xml.Header+string(text)+"\n")
	return err
}

func (r *Report) junitSuite(target string) (suite junitSuite, seconds float64) {
	suite = junitSuite{Name: xmlText(target + " against " + r.base()), Hostname: xmlText(r.Run.Host.Name), Out: xmlText(r.headline(target))}
	if !r.Run.Started.IsZero() {
		suite.Timestamp = r.Run.Started.UTC().Format("2006-01-02T15:04:05")
	}
	property := func(name, value string) {
		if value != "" {
			suite.Properties = append(suite.Properties, junitProperty{name, xmlText(value)})
		}
	}
	property("run", r.Run.UID)
	property("base", r.base())
	property("host", hostText(r.Run.Host))
	for _, t := range r.Run.Targets {
		if t.Name == r.base() || t.Name == target {
			property("version of "+xmlText(t.Name), strings.TrimSpace(string(t.Build.Family)+" "+t.Build.Version))
		}
		if t.Name == target {
			property("dropped", t.Dropped)
		}
	}
	for _, c := range r.of(target) {
		one, spent := r.junitCase(c)
		suite.Cases = append(suite.Cases, one)
		suite.Tests++
		if one.Failure != nil {
			suite.Failures++
		}
		if one.Skipped != nil {
			suite.Skipped++
		}
		seconds += spent
	}
	suite.Time = secondsText(seconds)
	return suite, seconds
}

func (r *Report) junitCase(c dbcanary.Comparison) (one junitCase, seconds float64) {
	class := c.Target
	if c.Group != "" {
		class += "." + c.Group
	}
	for _, instance := range r.Instances {
		if instance.Benchmark == c.Benchmark && instance.Target == c.Target {
			seconds += float64(instance.ElapsedNs) / 1e9
		}
	}
	one = junitCase{Name: xmlText(c.Benchmark), ClassName: xmlText(class), Time: secondsText(seconds), Out: xmlText(comparisonText(c))}
	switch c.Verdict {
	case dbcanary.Slower:
		one.Failure = &junitMessage{
			Message: xmlText(fmt.Sprintf("slower than %s: ratio %s, interval %s", c.Base, ratioText(c.QPSRatio.Ratio), intervalText(c.QPSRatio))),
			Type:    string(dbcanary.Slower), Text: xmlText(comparisonText(c)),
		}
	case dbcanary.Inconclusive:
		one.Skipped = &junitMessage{Message: xmlText(strings.TrimSuffix("inconclusive: "+c.Reason, ": "))}
	}
	return one, seconds
}

// comparisonText says all of a comparison in lines.
func comparisonText(c dbcanary.Comparison) string {
	lines := []string{fmt.Sprintf("%s: QPS %s, of %s %s, ratio %s, %s interval %s",
		c.Verdict, rateText(c.QPS), c.Base, rateText(c.BaseQPS), ratioText(c.QPSRatio.Ratio), percentText(c.Level), intervalText(c.QPSRatio))}
	if !math.IsNaN(c.CPURatio.Ratio) {
		lines = append(lines, fmt.Sprintf("server CPU per statement relative to %s: %s", c.Base, plusMinus(c.CPURatio)))
	}
	lines = append(lines, fmt.Sprintf("%s, %s, %s void", countText(c.Instances, "instance", "instances"),
		countText(c.Blocks, "block", "blocks"), countText(c.VoidSlices, "slice", "slices")))
	if c.Reason != "" {
		lines = append(lines, c.Reason)
	}
	for _, warning := range c.Warnings {
		lines = append(lines, "warning: "+warning)
	}
	return strings.Join(lines, "\n")
}

func secondsText(seconds float64) string { return strconv.FormatFloat(seconds, 'f', 3, 64) }

// xmlText keeps lines and leaves out what XML has no character for.
func xmlText(text string) string {
	lines := strings.Split(text, "\n")
	for i, one := range lines {
		lines[i] = xlsxText(one)
	}
	return strings.Join(lines, "\n")
}
