package exchange

import (
	"math"
	"regexp"
	"strings"

	"github.com/dbcanary/dbcanary"
)

// hammerDB reads the log of HammerDB's TPROC-C: new orders per minute, which
// later versions print before the transactions per minute and earlier ones after.
func hammerDB() resultFormat {
	return resultFormat{
		name:      "HammerDB",
		recognise: func(head string) bool { return hammerMark.MatchString(head) },
		begins: func(line string) bool {
			return strings.HasPrefix(line, "Vuser 1:") && strings.Contains(line, "TEST RESULT : ")
		},
		read: readHammerDB,
	}
}

var (
	hammerMark   = regexp.MustCompile(`(?m)^(Vuser \d+:|HammerDB |.*TEST RESULT : System achieved )`)
	hammerResult = regexp.MustCompile(`TEST RESULT : System achieved (?:(\d+) NOPM from \d+ (.*) TPM|\d+ (.*) TPM at (\d+) NOPM)\s*$`)
	hammerUsers  = regexp.MustCompile(`(\d+) Active Virtual Users configured`)
	hammerFailed = regexp.MustCompile(`^(Vuser \d+:FINISHED FAILED|Error in Virtual User )`)
)

func readHammerDB(l *lines, results *Results) error {
	var users int64
	failed := false
	for line := range l.all {
		if (strings.Contains(line, "FAILED") || strings.HasPrefix(line, "Error")) && hammerFailed.MatchString(line) {
			if !failed {
				results.rejectf(l, l.number, "a virtual user failed, so the results of this log are not those of all users: %s", clip(line))
			}
			failed = true
		}
		if strings.Contains(line, "Active Virtual Users") {
			if match := hammerUsers.FindStringSubmatch(line); match != nil {
				var err error
				if users, err = l.count("virtual users", match[1]); err != nil {
					return err
				}
			}
		}
		if !strings.Contains(line, "TEST RESULT : System achieved") {
			continue
		}
		match := hammerResult.FindStringSubmatch(line)
		if match == nil {
			return l.failf(l.number, "expected \"System achieved N NOPM from N … TPM\", found %q", clip(line))
		}
		number, product := match[1]+match[4], match[2]+match[3]
		orders, err := l.count("NOPM", number)
		if err != nil {
			return err
		}
		if orders == 0 || orders > 1e12 {
			results.rejectf(l, l.number, "the run finished no new order")
			continue
		}
		m := Measurement{Line: l.number, Tool: "HammerDB", Benchmark: "TPROC-C", Unit: "new orders", Threads: int(min(users, math.MaxInt32))}
		if family, err := dbcanary.ParseFamily(product); err == nil {
			m.Family = family
		}
		m.Latency.Mean = math.NaN()
		m.Operations, m.Events, m.ElapsedNs, m.RateStep = orders, orders, 60e9, 1/float64(orders)
		if err := results.add(l, m); err != nil {
			return err
		}
	}
	if failed {
		results.Measurements = nil
	}
	if len(results.Measurements) == 0 && len(results.Rejected) == 0 && l.err == nil {
		return l.failf(l.number, "the line \"TEST RESULT : System achieved …\" is missing; was the log cut?")
	}
	return nil
}
