# Everything runs from .venv, which `make setup` fills. A machine needs Python 3.11 and make.
.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: interrupts help setup docker-engine run up down test long quick lint check scenarios scenarios-planted simulate races random-jobs model mutants format stage awsstage synth diff deploy bootstrap lock corpus compatibility rollback-check wheel wheel-check sam-env openapi pictures alerts fuzz-api fuzz-guard security bench-api bench-worker bench-dispatch bench-drain bench-cancel bench-cli bench-proxy recovery worker-image image-check sbom pin-base-image clean distclean

PYTHON ?= python3
JOB ?= examples/brand-analysis.yaml

# Paths are relative: the repository may lie below a folder with a space in its name.
BIN := .venv/bin
ROSTER := .switchyard/processes.json
CDK := .venv/lib/cdk/node_modules/.bin/cdk
export PATH := $(CURDIR)/$(BIN):$(PATH)
export UV_SYSTEM_CERTS ?= 1
export CDK_DISABLE_CLI_TELEMETRY := true
export CDK_DISABLE_VERSION_CHECK := 1
unexport PYTHONDONTWRITEBYTECODE # it doubles the time of a synthesis

GROUPS := Every_day Before_a_release Deployment Searching_for_bugs Measurements Maintenance

#@ Every day
help: ## Show this list
	@for group in $(GROUPS); do \
	  echo "$$group" | tr _ ' '; \
	  awk -F ':.*## ' -v group="$$group" '/^#@ / { now = substr($$1, 4); gsub(" ", "_", now) } \
	    now == group && /^[a-z-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' Makefile; \
	done

setup: ## Install everything into .venv; does nothing if that is done
	@command -v "$(PYTHON)" >/dev/null || { \
	  echo "Switchyard needs Python 3.11 or newer: install it, then try again." >&2; exit 1; }
	@"$(PYTHON)" switchyard_local/prepare.py $(if $(filter file,$(origin PYTHON)),,--this-python) $(SETUP_OPTIONS)

run up: SETUP_OPTIONS := $(if $(ANTHROPIC_API_KEY)$(CLAUDE_CODE_OAUTH_TOKEN),--claude)
# `switchyard` is on the PATH of recipes, but not on that of a shell in which .venv is not active.
run: export SWITCHYARD_COMMAND := $(if $(findstring $(CURDIR)/.venv,$(VIRTUAL_ENV)),,$(BIN)/)switchyard
run: setup ## Run a job on the local cloud: JOB=path/to/job.yaml FUNCTIONS=./my_functions
	@$(BIN)/python -m switchyard_cli run "$(JOB)" $(foreach package,$(FUNCTIONS),--functions "$(package)")

up: setup ## Start the local cloud, or update it to today's sources: FUNCTIONS=./my_functions
	@$(BIN)/python -m switchyard_local up $(foreach package,$(FUNCTIONS),--functions "$(package)")

down: ## Stop the local cloud; its data stays
	@[ ! -e "$(ROSTER)" ] || [ -x $(BIN)/python ] || { \
	  echo "The local cloud may be running: \`make setup\`, then try again." >&2; exit 1; }
	@if [ -e "$(ROSTER)" ]; then $(BIN)/python -m switchyard_local down; \
	else echo "The local cloud is not running."; fi

test long quick lint check simulate races random-jobs model mutants openapi pictures alerts corpus compatibility rollback-check fuzz-api fuzz-guard security bench-api bench-worker bench-dispatch bench-drain bench-cancel bench-cli bench-proxy recovery: SETUP_OPTIONS := --claude # tests and types need the agent's SDK
# Two more than there are cores: what runs on the two local clouds mostly waits.
PROCESSES ?= $(shell "$(PYTHON)" -c "import os; print(2 + (os.cpu_count() or 1))")
test: setup ## Run all tests, on all cores: ARGS="-k lease", PROCESSES=1
	@$(BIN)/python -m tests.run_suite -n $(PROCESSES) --no-loadscope-reorder $(ARGS)

long: export LONG_TESTS := 1
long: setup ## Run the tests that `make test` leaves out: variations of faults, interruptions and real agents
	@$(BIN)/python -m tests.run_suite -n $(PROCESSES) --no-loadscope-reorder $(ARGS)

# Without what takes seconds and without any cloud; the functions are imported, but not called.
quick: setup ## Run the tests that need no cloud, in under a minute: ARGS=-x
	$(BIN)/python -m pytest -q -n $(or $(CORES),auto) -m "not slow" \
	  -k "not moto and not ministack and not simulated" \
	  tests/unit tests/contract tests/mutants tests/lambdas/test_handler_imports.py $(ARGS)

lint: setup ## Check style, types, imports and templates
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy .
	$(BIN)/lint-imports
	@for stage in local dev prod; do \
	  echo "$(CDK) synth -c stage=$$stage"; \
	  $(CDK) synth --quiet -c stage=$$stage --output "cdk.out/$$stage" || exit 1; \
	done
	$(BIN)/cfn-lint --ignore-checks W3005 -- cdk.out/*/*.template.json

check: lint test wheel-check ## Lint, then test: what CI runs

#@ Searching for bugs
scenarios: setup ## Let queues make trouble for real workers: NAMES="poison-messages", ARGS="--at-once 2"
	@$(BIN)/python -m switchyard_scenarios.run $(ARGS) $(NAMES)

scenarios-planted: setup ## Plant a defect for each of them, and see it caught: NAMES="out-of-order"
	@$(BIN)/python -m switchyard_scenarios.planted $(NAMES)

simulate: setup ## Simulate stages in bad weather: SEEDS=500, or SEED=7 for one and its timeline
	@$(BIN)/python -m tests.simulation $(if $(SEED),--seed $(SEED),--seeds $(or $(SEEDS),100))

races: setup ## Let tasks settle, join, be cancelled and redriven at once: RACES=10000
	@$(BIN)/python -m tests.simulation.races --races $(or $(RACES),10000)

random-jobs: setup ## Compare jobs of any shape, in bad weather, with how they must end: JOBS=200
	RANDOM_JOBS=$(or $(JOBS),200) $(BIN)/python -m pytest -q -n 2 tests/simulation/test_random_jobs.py

model: setup ## See every state of small jobs, workers and crashes: CONFIG=main, STATES=100000, ARGS=--mutants
	@$(BIN)/python -m tests.model $(if $(CONFIG),--config $(CONFIG)) $(if $(STATES),--states $(STATES)) $(ARGS)

interrupts: setup ## Press Ctrl-C at random moments of `up`, `run`, `make test` and five commands: MOMENTS=20
	INTERRUPTS=$(or $(MOMENTS),20) $(BIN)/python -m pytest -q -n0 tests/local/test_interrupts.py \
		tests/e2e/operating/test_interrupts.py

mutants: setup ## Take the guards out of the code one by one, and see a test fail each time
	@$(BIN)/python -m tests.mutants

fuzz-api: setup ## Send the local API requests that its description allows, and others: CASES=5000
	@$(BIN)/python -m tests.e2e.api.fuzzing $(or $(CASES),5000)

fuzz-guard: setup ## Look for schemas, texts and documents of tenants that cost too much: SEEDS=20
	@$(BIN)/python -m tests.security.growth $(or $(SEEDS),20)

# What needs no worker to attack comes first, so that the count of attacks is printed last.
HELD := tests/security tests/worker/parent/claude/test_proxy.py tests/worker/parent/claude/test_proxy_budget.py \
  tests/worker/parent/claude/test_proxy_asked.py tests/unit/adapters/slack/test_buttons.py tests/unit/test_pins.py
security: setup ## Attack a worker, its neighbours and the API as hostile agents would: ARGS="--only users" (root)
	@$(if $(ARGS),,$(BIN)/python -m pytest -q -n 2 $(HELD))
	@$(BIN)/python -m tests.security $(ARGS)

#@ Maintenance
openapi: setup ## Write docs/openapi.json anew from the routes
	@$(BIN)/python -m tests.lambdas.api.described > docs/openapi.json

pictures: setup ## Render docs/architecture.svg from the Mermaid source in docs/architecture.md
	@$(BIN)/uv pip install --quiet --require-hashes --target .switchyard/pictures -r docs/requirements.txt
	@PYTHONPATH=.switchyard/pictures $(BIN)/python -m tests.stacks.picture

alerts: setup ## Write the alerts in docs/alerts.md anew, as the code renders them
	@$(BIN)/python -m tests.slack.page

#@ Measurements
bench-api: setup ## Measure what requests and cold starts cost: REQUESTS=100
	@$(BIN)/python -m benchmarks.api $(or $(REQUESTS),100)

bench-worker: setup ## Measure what a task costs a worker: TASKS=500
	@$(BIN)/python -m benchmarks.worker $(or $(TASKS),500)

bench-dispatch: setup ## Measure what jobs cost to dispatch, and how that grows with their tasks
	@$(BIN)/python -m benchmarks.dispatch

bench-drain: setup ## Measure how four workers drain what an outage left behind: MESSAGES=2000
	@$(BIN)/python -m benchmarks.drain $(or $(MESSAGES),2000)

bench-cancel: setup ## Measure what the cancel of a large job costs, and others meanwhile: TASKS=5000
	@$(BIN)/python -m benchmarks.cancel $(or $(TASKS),5000)

bench-cli: setup ## Measure what the start of the command costs: RUNS=5
	@$(BIN)/python -m benchmarks.cli_start $(or $(RUNS),5)

bench-proxy: setup ## Measure what the proxy for Claude costs a request: REQUESTS=200
	@$(BIN)/python -m benchmarks.proxy $(or $(REQUESTS),200)

recovery: setup ## Break a local cloud in five ways, and see each put right: why, and how soon
	@$(BIN)/python -m tests.e2e.failures.recovery

#@ Before a release
compatibility: setup ## Let the last release read what today's sources write, and the reverse: OLD=<revision>
	@$(BIN)/python -m tests.compatibility.exchange $(OLD)

rollback-check: setup ## Deploy the last release over today's sources while jobs run, and back: OLD=<revision>
	@$(BIN)/python -m tests.compatibility.rollback $(OLD)

wheel-check: SETUP_OPTIONS := --claude
wheel-check: setup ## Install the wheel into an empty environment outside the repository, and use it
	WHEEL=1 $(BIN)/python -m pytest -q -n0 tests/local/test_wheel.py

wheel: setup ## Build the package into dist: client, command line and local cloud
	@$(BIN)/python -m hatchling build --target wheel --directory dist

corpus: setup ## Record what this version stores, sends and answers, before it is released
	@$(BIN)/python -m tests.compatibility.record

#@ Every day
format: setup ## Format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

#@ Deployment
STAGES := local dev prod
stage:
	@test -n "$(STAGE)" || { echo "Name the stage: add STAGE=dev or STAGE=prod" >&2; exit 2; }
	@test -n "$(filter $(STAGES),$(STAGE))" || { \
	  echo "There is no stage $(STAGE); the stages are: $(STAGES)" >&2; exit 2; }

awsstage: stage
	@test "$(STAGE)" != local || { \
	  echo "The stage local lives on this machine: \`make up\` deploys it." >&2; exit 2; }

synth: stage setup ## Write the templates of a stage to cdk.out: STAGE=dev
	$(CDK) synth --quiet -c stage="$(STAGE)"

SKIP_CHECKS ?= no
CHECK := $(BIN)/python -m switchyard_local.check_deployment
CHECK_CREDENTIALS = @[ "$(SKIP_CHECKS)" = yes ] || $(CHECK) --credentials-only "$(STAGE)"
diff: awsstage setup
	$(CHECK_CREDENTIALS)
	$(CDK) diff -c stage="$(STAGE)"

# Nobody is asked whether permissions may change: `make diff` shows that, and CI has no terminal.
SMOKE ?= yes
deploy: awsstage setup
	@if [ "$(SKIP_CHECKS)" = yes ]; then \
	  echo "Credentials, Docker, bootstrap and secret are not checked (SKIP_CHECKS=yes)."; \
	else $(CHECK) "$(STAGE)"; fi
	@echo "What a rollout waits for: switchyard rollout --watch --stage $(STAGE)"
	$(CDK) deploy --all --require-approval never -c stage="$(STAGE)"
	@if [ "$(SMOKE)" = no ]; then \
	  echo "No smoke check (SMOKE=no). Later: switchyard smoke --stage $(STAGE)"; \
	else $(BIN)/python -m switchyard_cli smoke --stage "$(STAGE)"; fi

bootstrap: awsstage setup ## Prepare the AWS account you are logged in to, once: STAGE=dev
	$(CHECK_CREDENTIALS)
	$(CDK) bootstrap -c stage="$(STAGE)"

diff: ## Show what a deployment would change: STAGE=dev
deploy: ## Deploy a stage to the AWS account you are logged in to, then run a task in it: STAGE=dev, SMOKE=no, SKIP_CHECKS=yes

SAM := .switchyard/sam
sam-env: setup ## Write what `sam local invoke` needs, from the local cloud or a deployed stage: STAGE=dev
	CDK_VALIDATION=false $(CDK) synth --quiet -c stage="$(or $(filter-out local,$(STAGE)),dev)" --output $(SAM)
	@$(BIN)/python -m switchyard_local.functions.sam_env $(SAM) --stage "$(or $(STAGE),local)"

#@ Maintenance
COMPILE = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --no-annotate --no-header \
  --generate-hashes
lock: setup ## Pin the dependencies anew from pyproject.toml: ARGS=--upgrade
	$(COMPILE) $(ARGS) --extra messages --extra dev -o requirements.txt pyproject.toml
	$(COMPILE) -c requirements.txt --group layer -o layers/dependencies/requirements.txt
	sed -n 's/^pictures = \["\(.*\)"\].*/\1/p' pyproject.toml | $(COMPILE) -o docs/requirements.txt -
	$(COMPILE) -c requirements.txt --group image -o switchyard_worker/requirements.txt

CYCLONEDX := $(BIN)/uv tool run --quiet --from cyclonedx-bom==7.5.0 cyclonedx-py requirements
SBOM := .switchyard/sbom
sbom: setup ## Write bills of materials (CycloneDX) of the worker's image, the layer and this machine
	@mkdir -p $(SBOM)
	$(CYCLONEDX) switchyard_worker/requirements.txt -o $(SBOM)/worker.json
	$(CYCLONEDX) layers/dependencies/requirements.txt -o $(SBOM)/layer.json
	$(CYCLONEDX) requirements.txt -o $(SBOM)/development.json
	$(BIN)/npm sbom --package-lock-only --sbom-format cyclonedx > $(SBOM)/cdk.json
	@echo "Bills of materials: $(SBOM)/*.json"

pin-base-image: ## Pin the base image of the worker by digest, where Docker reaches its registry
	@$(PYTHON) switchyard_worker/pin_base_image.py switchyard_worker/Dockerfile

docker-engine:
	@docker version >/dev/null 2>&1 || { \
	  echo "No Docker engine answers, and the worker's image needs one: start it, then try again." >&2; \
	  exit 1; }

worker-image: docker-engine ## Build the worker's image, where a Docker engine answers
	docker build --file switchyard_worker/Dockerfile --tag switchyard-worker .

image-check: SETUP_OPTIONS := --claude
image-check: setup ## Build the image and run it as Fargate would, without Docker: needs root and buildah
	@$(BIN)/python -m tests.image

clean: down ## Stop the local cloud and remove its data and all build output
	rm -rf .switchyard cdk.out dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache \
	  .hypothesis .coverage

distclean: clean ## Also remove .venv
	rm -rf .venv .venv.lock
