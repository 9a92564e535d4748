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

// All gives every driver in the order of dbcanary.Families.
func All() []dbms.Driver {
	return []dbms.Driver{mysql.New(dbcanary.MySQL), mysql.New(dbcanary.MariaDB), postgres.New(), sqlite.New()}
}

// For gives the driver of a family, nil for a family that there is not.
func For(family dbcanary.Family) dbms.Driver {
	for _, driver := range All() {
		if driver.Family() == family {
			return driver
		}
	}
	return nil
}

// Identify finds the server of a family below dir and gives its exact version.
// dir is "" for a family that is built in.
func Identify(ctx context.Context, family dbcanary.Family, dir string) (dbms.Binary, error) {
	driver := For(family)
	if driver == nil {
		return dbms.Binary{}, dbcanary.Errorf(dbcanary.CodeUsage, "there is no driver for %q", family)
	}
	return driver.Identify(ctx, dir)
}
