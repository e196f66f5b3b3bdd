# Everyday commands. `make help` lists them.
SHELL := /bin/bash
.DEFAULT_GOAL := help

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
COMMIT  ?= $(shell git rev-parse HEAD 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X main.version=$(VERSION) -X main.commit=$(COMMIT)
# `tombstone dev` and the stores that it embeds are not for production: this tag leaves them out.
PRODUCTION := nodev
# Tools have a module of their own, so that theirs are not the product's dependencies.
TOOL := go tool -modfile=tools/go.mod
IMAGE ?= tombstone:local
PACKAGES ?= ./...

.PHONY: help build dist image test test-short race cluster soak lint fmt vuln images bench bench-embedded bench-smoke demo compose-up compose-down compose-smoke image-smoke helm readme ci

help: ## this list
	@sed -nE 's/^([a-z-]+):.*## (.*)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

build: ## bin/tombstone, with `dev` and its embedded stores
	go build -ldflags "$(LDFLAGS)" -o bin/tombstone ./cmd/tombstone

dist: ## dist/tombstone, static, as it goes into the image
	CGO_ENABLED=0 go build -trimpath -tags $(PRODUCTION) -ldflags "$(LDFLAGS)" -o dist/tombstone ./cmd/tombstone
	@! go list -deps -tags $(PRODUCTION) ./cmd/tombstone | \
		grep -E '^github.com/(nats-io/nats-server|FerretDB|versity)/' || { echo "these must not be in it"; exit 1; }

image: dist ## the image, from dist/tombstone (deploy/Dockerfile builds it from source)
	cp deploy/Dockerfile.prebuilt dist/Dockerfile
	install -D -m 644 /etc/ssl/certs/ca-certificates.crt dist/root/etc/ssl/certs/ca-certificates.crt
	install -d -m 1777 dist/root/tmp
	docker build -q -t $(IMAGE) dist

test: ## all tests; those with containers are skipped where Docker does not answer
	go test $(PACKAGES)

test-short: ## the quick tests
	go test -short $(PACKAGES)

# Left out: test/debian, which asks one thing after the other.
race: ## the quick tests under the race detector
	go test -race -short $$(go list $(PACKAGES) | grep -v '/test/debian$$')

# CLUSTER_FLAGS=-short is the size that every change must pass.
cluster: ## real processes on real stores in containers: killed at each step and at random, frozen, cut off (a quarter of an hour)
	TOMBSTONE_CLUSTER=1 go test -count=1 -timeout=40m -v $(CLUSTER_FLAGS) ./test/cluster

soak: ## an hour of kills at random (TOMBSTONE_SOAK=5m for less, TOMBSTONE_SEED=N for the same again), then random schedules
	TOMBSTONE_CLUSTER=1 TOMBSTONE_SOAK=$${TOMBSTONE_SOAK:-1h} go test -count=1 -timeout=0 -v -run 'TestCluster/kills' ./test/cluster
	go test -count=1 -timeout=0 -v -run 'TestRandomSchedules$$' ./test/crash -rapid.checks=50000

lint: ## go vet and golangci-lint, with the import rules of .golangci.yml
	go vet ./...
	go vet -tags $(PRODUCTION) ./cmd/... ./internal/app/...
	$(TOOL) golangci-lint run ./...

fmt: ## format what the linter would complain about
	$(TOOL) golangci-lint fmt ./...

vuln: ## known vulnerabilities in what the production binary contains (asks vuln.go.dev)
	$(TOOL) govulncheck -tags $(PRODUCTION) ./cmd/tombstone

images: ## the images that tests and compose run, pulled or built: see test/images
	test/images/build.sh

# BENCH is further arguments, as BENCH='-n 10000 -json bench.json'.
bench: ## the benchmark, on stores in containers that it starts (embedded ones where Docker does not answer)
	go run ./bench -stores auto $(BENCH)

bench-embedded: ## the same on embedded stores
	go run ./bench $(BENCH)

bench-smoke: ## the benchmark, small, to see that it runs
	go run ./bench -smoke

demo: ## the demo: everything in one process
	go run ./cmd/tombstone dev --demo

compose-up: image ## the services and real stores in containers
	TOMBSTONE_IMAGE=$(IMAGE) docker compose up -d --wait
	@echo "The API and the page: http://127.0.0.1:8080 (the asset service: 8081). Token: tombstone-compose-only"

compose-down: ## stop them and remove their data
	docker compose down -v

image-smoke: image ## what is in the image, and that it runs without rights
	TOMBSTONE_IMAGE=$(IMAGE) .ci/image-smoke

compose-smoke: build image ## start them, delete an asset, look into the stores, stop them
	TOMBSTONE_IMAGE=$(IMAGE) .ci/compose-smoke

# What Kubernetes says of it comes from a Python package with its published schemas.
helm: ## the chart: linted, rendered, held to Kubernetes' schemas and to the program
	test -x bin/venv/bin/kubernetes-validate || \
		{ python3 -m venv bin/venv && bin/venv/bin/pip install -q --disable-pip-version-check -r test/helm/requirements.txt; }
	PATH=$(CURDIR)/bin/venv/bin:$$PATH go -C test/helm test -count=1 ./...

readme: build ## run the commands of README.md and of the examples
	.ci/readme README.md $(wildcard examples/*/README.md)

ci: ## all that a change must pass
	.ci/run
