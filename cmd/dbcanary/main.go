// Command dbcanary tells whether a database got slower.
package main

import (
	"os"

	"github.com/dbcanary/dbcanary/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:]))
}
