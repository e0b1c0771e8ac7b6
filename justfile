# The tasks of people who work on pi: `uv run --group dev just` lists them, `uv run --group dev just test retry` runs one.

# Checks use what the first `uv sync --group dev` installed, plugins that were installed by hand included.
run := "uv run --no-sync"

# List the tasks.
_default:
    @{{ just_executable() }} --justfile {{ justfile() }} --list --unsorted

# Lint, format, types, import contracts and dependencies, in a minute.
check:
    {{ run }} ruff check
    {{ run }} ruff format --check
    {{ run }} mypy
    {{ run }} lint-imports
    {{ run }} python tools/check_dependencies.py
    {{ run }} python tools/contract_diff.py

# All tests, or those of one member (`just test retry -x`).
[positional-arguments]
test member="" *arguments:
    #!/usr/bin/env sh
    set -eu
    if [ $# -eq 0 ] || [ -z "$1" ]; then exec {{ run }} pytest -q; fi
    folder=$({{ run }} python tools/list_members.py "$1")
    shift
    exec {{ run }} pytest "$folder" -q -n0 "$@"

# Every command, list and key of what users install, in sessions of every kind; takes minutes. Three for each processor,
# because most of their time is waiting for a program to be quiet.
journeys *arguments:
    {{ run }} pytest tests/journeys -q -m journeys -n $((3 * {{ num_cpus() }})) --maxprocesses 8 --dist=worksteal \
        -o faulthandler_timeout=0 {{ arguments }}

# One measurement of `bench/` (`just bench dispatch`).
[positional-arguments]
bench name *arguments:
    @name="$1"; shift; exec {{ run }} python "bench/$name.py" "$@"

# Write the generated pages of `docs/` again.
docs:
    {{ run }} python tools/build_command_pages.py
    {{ run }} python tools/build_contract.py
    {{ run }} python tools/build_environment_page.py
    {{ run }} python tools/build_examples_page.py
    {{ run }} python tools/build_failures_page.py
    {{ run }} python tools/build_hook_pages.py
    {{ run }} python tools/build_keybindings_page.py
    {{ run }} python tools/build_misbehaviour_page.py
    {{ run }} python tools/build_notebook_page.py
    {{ run }} python tools/build_package_catalogue.py
    {{ run }} python tools/build_sendable_page.py
    {{ run }} python tools/build_settings_page.py
    {{ run }} python tools/build_typescript_tools.py
    {{ run }} python tools/build_values_page.py
    {{ run }} python tools/typescript_members.py
    {{ run }} python tools/write_rpc_schemas.py

# Build the documentation site in build/site; a link that leads nowhere fails.
site:
    uv run --group docs python tools/build_site.py

# Draw the pictures of the screen and of the examples, the screens that tests compare with, the web page and the exported page again.
picture:
    WRITE_SNAPSHOTS=1 {{ run }} pytest -q -n0 plugins/frontends/tui/tests/screen/test_snapshots.py
    WRITE_SNAPSHOTS=1 {{ run }} pytest -q -n0 -m "slow or not slow" plugins/frontends/tui/tests/screen/test_picture.py
    WRITE_SNAPSHOTS=1 {{ run }} pytest -q -n0 -m slow plugins/frontends/serve/tests/browser/test_serve_pictures.py plugins/frontends/serve/tests/browser/test_three_places.py
    WRITE_SNAPSHOTS=1 {{ run }} pytest -q -n0 -m slow plugins/sessions/export-html/tests/test_export_html_browser.py

# Execute docs/notebooks.ipynb and keep what its cells display.
notebook:
    {{ run }} python tools/heavy_environments.py jupyter
    WRITE_SNAPSHOTS=1 .heavy/jupyter/bin/python -m pytest -q -n0 -m heavy plugins/frontends/jupyter/tests/test_kernels.py -k page
    {{ run }} python tools/build_notebook_page.py

# The members of the workspace with one line each.
groups:
    @{{ run }} python tools/list_members.py

# What the next version's section of CHANGELOG.md will say.
changelog:
    @{{ run }} towncrier build --draft --version next
