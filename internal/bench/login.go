package bench

import (
	"net"
	"net/url"
	"os"
	"strings"

	"github.com/dbcanary/dbcanary"
)

// Login is where and how to log in, as sysbench's options --mysql-host,
// --pgsql-host and so on say it. An empty field is sysbench's default.
type Login struct {
	Driver   string // mysql or pgsql
	Host     string
	Port     string
	Socket   string // MySQL only
	User     string
	Password string
	Database string
	SSL      string // as --mysql-ssl or --pgsql-sslmode has it
}

// DSN gives the same as a DSN, which holds the password.
func (l Login) DSN() (string, error) {
	if l.User == "" {
		l.User = "sbtest"
	}
	if l.Database == "" {
		l.Database = "sbtest"
	}
	for _, value := range []string{l.Host, l.Port, l.Socket} {
		if strings.Contains(value, ",") {
			return "", dbcanary.Errorf(dbcanary.CodeUsage, "a list of servers, %s: bench takes one", value)
		}
	}
	query := url.Values{}
	var err error
	if l.Driver == "pgsql" {
		err = l.postgres(query)
	} else {
		err = l.mysql(query)
	}
	if err != nil {
		return "", err
	}
	dsn := url.URL{Scheme: "mysql", User: url.UserPassword(l.User, l.Password), Path: "/" + l.Database, RawQuery: query.Encode()}
	if l.Driver == "pgsql" {
		dsn.Scheme = "postgres"
	}
	if query.Get("host") == "" {
		dsn.Host = l.Host
		if strings.Contains(l.Host, ":") || l.Port != "" {
			dsn.Host = net.JoinHostPort(l.Host, l.Port)
		}
	}
	return dsn.String(), nil
}

func (l *Login) mysql(query url.Values) error {
	if l.Socket == "" && l.Port == "" && (l.Host == "" || l.Host == "localhost") {
		l.Socket = defaultSocket()
	}
	if l.Host == "" || l.Host == "localhost" {
		l.Host = "127.0.0.1"
	}
	if l.Port == "" {
		l.Port = "3306"
	}
	if l.Socket != "" {
		query.Set("socket", l.Socket)
	}
	switch strings.ToLower(l.SSL) {
	case "", "off", "disabled":
	case "on", "required":
		query.Set("tls", "skip-verify")
	case "verify_identity":
		query.Set("tls", "true")
	default:
		return dbcanary.Errorf(dbcanary.CodeUsage, "--mysql-ssl %s is not to be had; there are off, on and verify_identity", l.SSL)
	}
	return nil
}

// defaultSocket is where MySQL's own client looks when the host is "localhost";
// "" if no server is there.
func defaultSocket() string {
	for _, path := range []string{"/run/mysqld/mysqld.sock", "/tmp/mysql.sock", "/var/lib/mysql/mysql.sock"} {
		if info, err := os.Stat(path); err == nil && info.Mode()&os.ModeSocket != 0 {
			return path
		}
	}
	return ""
}

func (l *Login) postgres(query url.Values) error {
	if l.Socket != "" {
		return dbcanary.Errorf(dbcanary.CodeUsage, "a socket of PostgreSQL is given as its folder: --pgsql-host=/run/postgresql")
	}
	if l.Host == "" {
		l.Host = "localhost"
	}
	if l.Port == "" {
		l.Port = "5432"
	}
	if strings.HasPrefix(l.Host, "/") {
		query.Set("host", l.Host)
		query.Set("port", l.Port)
	}
	if l.SSL != "" {
		query.Set("sslmode", l.SSL)
	}
	return nil
}
