// Package web holds the page of the HTML report: TypeScript in src, which
// "make web" bundles into dist, from where the program takes it.
package web

import (
	"embed"
	"io/fs"

	"github.com/dbcanary/dbcanary"
)

//go:embed all:dist
var dist embed.FS

// Bundle is what the page needs beside its data.
type Bundle struct {
	Script string
	Style  string
}

// Load gives the bundle, or an error if the program was built without one.
func Load() (Bundle, error) {
	script, err := fs.ReadFile(dist, "dist/main.js")
	if err == nil {
		var style []byte
		if style, err = fs.ReadFile(dist, "dist/style.css"); err == nil {
			return Bundle{Script: string(script), Style: string(style)}, nil
		}
	}
	return Bundle{}, dbcanary.Errorf(dbcanary.CodeUnavailable,
		"this program was built without the page of the HTML report: build it with \"make build\", which needs Node.js (%w)", err)
}
