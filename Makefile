GO ?= go
TOOL = $(GO) tool -modfile=tools/go.mod
export CGO_ENABLED = 0

.PHONY: build demo test test-race check format accuracy bench-load

build: ## the program, at ./dbcanary
	$(GO) build -trimpath -o dbcanary ./cmd/dbcanary

demo: build ## fetch two PostgreSQL releases and compare them
	./dbcanary compare postgres@17 postgres@18 --time 100s --table-size 20000 --db demo.db

test: build ## every test, end-to-end ones on real servers included
	$(GO) test -timeout 20m ./...

test-race: ## what runs goroutines, under the race detector
	CGO_ENABLED=1 $(GO) test -race -short -timeout 15m $(RACE)

RACE = . ./stat/... ./changepoint/... ./internal/load/... ./internal/lab/... ./internal/ui/... ./internal/store/... ./internal/plan/... ./internal/verdict/... ./internal/config/...

bench-load: build ## cost of the load generator beside sysbench and pgbench; ARGS="-targets mariadb@10.11 -connections 1" for less
	@$(GO) run ./internal/load/benchload $(ARGS)

accuracy: ## measure change-point detection: make accuracy DATA=../shared/changepoint
	@$(GO) run ./changepoint/accuracy -data "$(DATA)"

check: ## format, vet, staticcheck
	@unformatted=$$($(TOOL) gofumpt -l .); if [ -n "$$unformatted" ]; then echo "not formatted: $$unformatted; run make format"; exit 1; fi
	$(GO) vet ./...
	$(TOOL) staticcheck ./...

format:
	$(TOOL) gofumpt -w .
