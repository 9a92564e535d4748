GO ?= go

.PHONY: build test

build:
	CGO_ENABLED=0 $(GO) build -trimpath -o dbcanary ./cmd/dbcanary
