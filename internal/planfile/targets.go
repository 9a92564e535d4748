package planfile

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/config"
	"github.com/dbcanary/dbcanary/internal/dbms/drivers"
)

// repeatMark stands between the name of a repeated target and its number.
const repeatMark = "#"

// ParseTarget reads a target as a user writes it. What was read as overlays counts
// to the path of a build as far as there is such a folder: the versions of Debian's
// packages have a "+". Errors have dbcanary.CodeUsage.
func ParseTarget(text string) (dbcanary.TargetSpec, error) {
	spec, err := dbcanary.ParseTargetSpec(text)
	if err != nil || spec.Path == "" {
		return spec, err
	}
	for n := len(spec.Overlays); n > 0; n-- {
		path := spec.Path + "+" + strings.Join(spec.Overlays[:n], "+")
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			spec.Path, spec.Overlays = path, spec.Overlays[n:]
			break
		}
	}
	return spec, nil
}

// BaseName is the target as the user wrote it, of a name that says which repetition it is.
func BaseName(name string) string {
	at := strings.LastIndex(name, repeatMark)
	if at < 0 {
		return name
	}
	if _, err := strconv.Atoi(name[at+len(repeatMark):]); err != nil {
		return name
	}
	return name[:at]
}

// written is a target with the place where it is written.
type written struct {
	text, path string
}

// expand gives the targets of the matrix: for each build each overlay.
func (t Targets) expand(path string) []written {
	if len(t.Builds) == 0 {
		return []written{{t.Name, path}}
	}
	overlays := t.Overlays
	if len(overlays) == 0 {
		overlays = []string{""}
	}
	var list []written
	for i, build := range t.Builds {
		for j, overlay := range overlays {
			text, where := build, fmt.Sprintf("%s.builds[%d]", path, i)
			if overlay = strings.TrimPrefix(overlay, "+"); overlay != "" {
				text += "+" + overlay
				if i == 0 {
					where = fmt.Sprintf("%s.overlays[%d]", path, j)
				}
			}
			list = append(list, written{text, where})
		}
	}
	return list
}

// specs parses the targets, the base first, and makes their names unique: the same
// target twice is an A/A comparison.
func (c *checker) specs() []dbcanary.TargetSpec {
	var specs []dbcanary.TargetSpec
	seen := map[string]int{}
	count := 0
	for i, entry := range c.file.Targets {
		path := fmt.Sprintf("targets[%d]", i)
		if entry.Name == "" && len(entry.Builds) == 0 {
			c.value(path, "a target is a name such as mysql@9.7, or a mapping with builds and overlays; this one has no builds")
			continue
		}
		for _, one := range entry.expand(path) {
			count++
			spec, err := ParseTarget(one.text)
			if err == nil {
				err = checkOverlays(spec)
			}
			if err != nil {
				c.value(one.path, "%s", err)
				continue
			}
			seen[spec.Name]++
			if n := seen[spec.Name]; n > 1 {
				spec.Name += repeatMark + strconv.Itoa(n)
			}
			specs = append(specs, spec)
		}
	}
	if count < 2 {
		c.value("targets", "there must be a base and at least one more target")
	}
	return specs
}

func checkOverlays(spec dbcanary.TargetSpec) error {
	if spec.DSN != "" {
		return nil
	}
	_, err := config.Resolve(spec.Overlays, drivers.For(spec.Family).Overlays())
	return err
}

// bases puts the base first and gives the names of all bases if there are several.
func (c *checker) bases(specs []dbcanary.TargetSpec) ([]dbcanary.TargetSpec, []string) {
	names := make([]string, len(specs))
	for i, spec := range specs {
		names[i] = spec.Name
	}
	var bases []string
	for i, base := range c.file.Base {
		switch base = dbcanary.RedactDSN(base); {
		case !slices.Contains(names, base):
			c.value(fmt.Sprintf("base[%d]", i), "base %q is none of the targets%s", base, dbcanary.DidYouMean(base, names))
		case slices.Contains(bases, base):
			c.value(fmt.Sprintf("base[%d]", i), "base %q is there twice", base)
		default:
			bases = append(bases, base)
		}
	}
	if len(bases) == 0 {
		return specs, nil
	}
	first := slices.Index(names, bases[0])
	base := specs[first]
	specs = slices.Insert(slices.Delete(slices.Clone(specs), first, first+1), 0, base)
	if len(bases) == 1 {
		return specs, nil
	}
	return specs, bases
}
