GO ?= go
TOOL = $(GO) tool -modfile=tools/go.mod
export CGO_ENABLED = 0

.PHONY: build web demo test test-race check format accuracy bench-load bench-load-data calibrate

build: web ## the program, at ./dbcanary
	$(GO) build -trimpath -o dbcanary ./cmd/dbcanary

web: web/dist/main.js ## the page of the HTML report, which the program has in it

web/dist/main.js: web/package-lock.json web/tsconfig.json $(wildcard web/src/*)
	cd web && npm ci --silent --no-audit --no-fund && npm run --silent build

demo: build ## fetch two PostgreSQL releases and compare them
	./dbcanary compare postgres@17 postgres@18 --time 100s --table-size 20000 --db demo.db

test: build ## every test, end-to-end ones on real servers included
	$(GO) test -timeout 20m ./...

test-race: web ## what runs goroutines, under the race detector, but for what measures costs
	CGO_ENABLED=1 $(GO) test -race -short -skip _Cost -timeout 15m $(RACE)

RACE = . ./stat/... ./changepoint/... ./internal/load/... ./internal/lab/... ./internal/ui/... ./internal/store/... ./internal/plan/... ./internal/verdict/... ./internal/config/...

bench-load: build ## cost of the load generator beside sysbench and pgbench; ARGS="-targets mariadb@10.11 -connections 1" for less
	@$(GO) run ./internal/load/benchload $(ARGS)

bench-load-data: build ## how fast a table is loaded beside sysbench prepare; ARGS="-load-rows 1000000 -targets mariadb@10.11 -pairs 3" for less
	@$(GO) run ./internal/load/benchload -load-rows 10000000 -pairs 5 -memory 2048 $(ARGS)

calibrate: build ## what verdicts are worth on this host, written to docs/CALIBRATION.md; goes on where it stopped; ARGS="-parts aa -time 2m", ARGS=-report
	@$(GO) run ./internal/calibrate $(ARGS)

accuracy: ## measure change-point detection: make accuracy DATA=../shared/changepoint
	@$(GO) run ./changepoint/accuracy -data "$(DATA)"

check: web ## format, vet, staticcheck, types and format of the page
	@unformatted=$$($(TOOL) gofumpt -l .); if [ -n "$$unformatted" ]; then echo "not formatted: $$unformatted; run make format"; exit 1; fi
	$(GO) vet ./...
	$(TOOL) staticcheck ./...
	cd web && npm run --silent check

format: web
	$(TOOL) gofumpt -w .
	cd web && npm run --silent format
