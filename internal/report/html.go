package report

import (
	"encoding/json"
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/dbcanary/dbcanary/web"
)

// contentPolicy keeps the page from loading or sending anything.
const contentPolicy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"

// writeHTML writes one page that needs nothing else: script and style of the web
// room, and the report as JSON in it.
func (r *Report) writeHTML(w io.Writer, _ Options) error {
	bundle, err := web.Load()
	if err != nil {
		return err
	}
	page, err := r.page()
	if err != nil {
		return err
	}
	// encoding/json escapes <, > and &, so that no text can end the script.
	data, err := json.Marshal(page)
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="%s">
<title>%s</title>
<style>%s</style>
</head>
<body>
<noscript>This report is drawn by a script, which this browser does not run. dbcanary report prints it as text.</noscript>
<main id="report"></main>
<script type="application/json" id="data">%s</script>
<script>%s</script>
</body>
</html>
`, contentPolicy, html.EscapeString(page.Title), inStyle(bundle.Style), data, inScript(bundle.Script))
	return writeAll(w, &b)
}

// inScript and inStyle keep a bundle from ending its own element.
func inScript(text string) string { return strings.ReplaceAll(text, "</script", `<\/script`) }
func inStyle(text string) string  { return strings.ReplaceAll(text, "</style", `<\/style`) }
