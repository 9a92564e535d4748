// Package drivers is the one place that lists the drivers of the DBMS families.
package drivers

import (
	"context"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/dbms"
	"github.com/dbcanary/dbcanary/internal/dbms/mysql"
	"github.com/dbcanary/dbcanary/internal/dbms/postgres"
	"github.com/dbcanary/dbcanary/internal/dbms/sqlite"
)

type identifier interface {
	Family() dbcanary.Family
	Identify(ctx context.Context, dir string) (dbms.Binary, error)
}

// Identify finds the server of a family below dir and gives its exact version.
// dir is "" for a family that is built in.
func Identify(ctx context.Context, family dbcanary.Family, dir string) (dbms.Binary, error) {
	for _, driver := range []identifier{mysql.New(dbcanary.MySQL), mysql.New(dbcanary.MariaDB), postgres.New(), sqlite.New()} {
		if driver.Family() == family {
			return driver.Identify(ctx, dir)
		}
	}
	return dbms.Binary{}, dbcanary.Errorf(dbcanary.CodeUsage, "there is no driver for %q", family)
}
