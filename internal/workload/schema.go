package workload

import (
	"fmt"

	"github.com/dbcanary/dbcanary"
)

// createTable is the table as sysbench makes it, without the index on k.
func createTable(family dbcanary.Family, data Data, n int) string {
	id, key := "INTEGER NOT NULL", ",\n  PRIMARY KEY (id)"
	if data.Secondary {
		key = ""
	}
	options := ""
	switch family {
	case dbcanary.MySQL, dbcanary.MariaDB:
		id, options = "INTEGER NOT NULL AUTO_INCREMENT", " ENGINE=InnoDB"
		if data.Secondary {
			key = ",\n  KEY (id)"
		}
	case dbcanary.Postgres:
		id = "SERIAL"
	case dbcanary.SQLite:
		// Spelled like this the primary key is the row's number.
		id, key = "INTEGER PRIMARY KEY", ""
		if data.Secondary {
			id = "INTEGER NOT NULL"
		}
	}
	return fmt.Sprintf("CREATE TABLE %s (\n  id %s,\n  k INTEGER DEFAULT '0' NOT NULL,\n"+
		"  c CHAR(120) DEFAULT '' NOT NULL,\n  pad CHAR(60) DEFAULT '' NOT NULL%s\n)%s", tableName(n), id, key, options)
}

// finishTable is what a table gets when its rows are in.
func finishTable(family dbcanary.Family, data Data, n int) []string {
	var list []string
	if data.Secondary && family != dbcanary.MySQL && family != dbcanary.MariaDB {
		list = append(list, fmt.Sprintf("CREATE INDEX xid%d ON %s(id)", n, tableName(n)))
	}
	list = append(list, fmt.Sprintf("CREATE INDEX k_%d ON %s(k)", n, tableName(n)))
	if family == dbcanary.Postgres {
		// The load gave the ids, so the sequence has to learn where they end.
		list = append(list, fmt.Sprintf("SELECT setval(pg_get_serial_sequence('%s', 'id'), %d)", tableName(n), data.TableSize))
	}
	return list
}
