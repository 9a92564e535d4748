package exchange

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/dbcanary/dbcanary"
)

var (
	// publishedDir is a result directory of the published scripts, or its name in
	// their tables: x.my8028_rel_o2nofp.z11a_bee.pk1.
	publishedDir = regexp.MustCompile(`^(?:x\.)?(fbmy|my|ma|pg)(\d[\da-z]*)((?:_[^.]+)*)(?:\.([a-zA-Z].*?))?(?:\.pk([01]))?$`)
	// namedVersion finds a family and a version in any name: mysql-8.0.28, pg15.3_test.
	namedVersion = regexp.MustCompile(`(?i)(?:^|[^a-z])(mysql|mariadb|postgres|postgresql|pg|sqlite)[-_ @]?v?(\d+(?:\.\d+)*)`)
	bareVersion  = regexp.MustCompile(`^v?(\d+(?:\.\d+)+)`)
	pgDigits     = regexp.MustCompile(`^(\d\d)(\d{1,2})?((?:beta|rc)\d+)?$`)
)

// importedTarget makes a target of a name. What the name does not tell is empty:
// families and versions are not guessed from numbers.
func importedTarget(name, origin string, family dbcanary.Family) dbcanary.Target {
	target := dbcanary.Target{Name: name, Build: dbcanary.Build{Family: family, Provider: "import", Origin: origin}}
	if match := publishedDir.FindStringSubmatch(name); match != nil && (match[4] != "" || match[3] != "") {
		target.Name = publishedTargetName(name)
		target.Build.Family, target.Build.Version = publishedVersion(match[1], match[2])
		for _, part := range []string{strings.Trim(match[3], "_"), match[4]} {
			if part != "" {
				target.Config.Name += "+" + part
			}
		}
		if match[1] == "fbmy" {
			target.Config.Name = "+fb" + target.Config.Name
		}
		if target.Build.Version == "" {
			target.Config.Name = "+" + match[2] + target.Config.Name
		}
		if match[5] == "0" {
			target.Config.Name += "+pk0"
		}
		return target
	}
	if spec, err := dbcanary.ParseTargetSpec(name); err == nil && spec.Version != "" {
		target.Build.Family, target.Build.Version = spec.Family, spec.Version
		for _, overlay := range spec.Overlays {
			target.Config.Name += "+" + overlay
		}
		return target
	}
	if match := namedVersion.FindStringSubmatch(name); match != nil {
		if found, err := dbcanary.ParseFamily(match[1]); err == nil {
			target.Build.Family, target.Build.Version = found, match[2]
		}
	} else if match := bareVersion.FindStringSubmatch(name); match != nil {
		target.Build.Version = match[1]
	}
	if target.Build.Version == "" {
		target.Config.Name = "+" + name // so that no series takes it for the same build as others
	}
	return target
}

// publishedTargetName leaves off what all names of the published scripts have in common.
func publishedTargetName(name string) string {
	return strings.TrimSuffix(strings.TrimPrefix(name, "x."), ".pk1")
}

// publishedVersion reads 8028 as 8.0.28, 101114 of MariaDB as 10.11.14 and 1710 of
// PostgreSQL as 17.10; "" if the digits do not have that many places.
func publishedVersion(kind, digits string) (dbcanary.Family, string) {
	trim := func(parts ...string) string {
		for i, part := range parts {
			n, err := strconv.Atoi(part)
			if err != nil {
				return ""
			}
			parts[i] = strconv.Itoa(n)
		}
		return strings.Join(parts, ".")
	}
	switch kind {
	case "ma":
		if len(digits) == 6 {
			return dbcanary.MariaDB, trim(digits[:2], digits[2:4], digits[4:])
		}
		return dbcanary.MariaDB, ""
	case "pg":
		match := pgDigits.FindStringSubmatch(digits)
		switch {
		case match == nil:
			return dbcanary.Postgres, ""
		case match[2] == "":
			return dbcanary.Postgres, match[1] + match[3]
		}
		return dbcanary.Postgres, match[1] + "." + match[2] + match[3]
	}
	if len(digits) == 4 {
		return dbcanary.MySQL, trim(digits[:1], digits[1:2], digits[2:])
	}
	return dbcanary.MySQL, ""
}
