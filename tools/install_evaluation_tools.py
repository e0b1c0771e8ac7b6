"""Install Harbor and Inspect AI for the tests of their agents into ``.evaluation-tools`` of this repository.

The tests that need one of them skip themselves where it is not there. Run it with
``uv run python tools/install_evaluation_tools.py``; it needs uv and the package index. Harbor needs Python 3.12, which
is not downloaded: without it, Harbor is left out. The page about evaluation has a table of the versions.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from other_pythons import interpreter

FOLDER = Path(__file__).resolve().parent.parent / ".evaluation-tools"
HARBOR = ["--no-deps", "harbor==0.26.0"]
HARBORS_PYTHON = "3.12"
OF_HARBOR = (
    "typing_extensions pydantic pyyaml rich toml tenacity python-dotenv packaging shortuuid typer jinja2 dirhash semver"
    " httpx filelock platformdirs pyjwt jsonschema pathspec requests certifi fastapi litellm"
)
"""What its agents import; all that it requires is ten times as much."""
INSPECT = ["inspect-ai==0.3.285", "openai", "tiktoken"]


def main() -> int:
    """Install both and return the exit code."""
    FOLDER.mkdir(exist_ok=True)
    codes = [_install("inspect", sys.executable, INSPECT)]
    python = interpreter(HARBORS_PYTHON)
    if python is None:
        print(f"Harbor was left out: it needs Python {HARBORS_PYTHON}, which is not installed.", file=sys.stderr)
    else:
        codes += [_install("harbor", python, HARBOR), _install("harbor", python, OF_HARBOR.split())]
    return int(any(codes))


def _install(name: str, python: str, requirements: list[str]) -> int:
    """Install into an environment, which is made if needed; return the exit code."""
    folder = FOLDER / name
    target = folder / "bin" / "python"
    venv = ["uv", "venv", "--quiet", "--allow-existing", "--python", python, str(folder)]
    # Without the pins of this repository
    install = ["uv", "pip", "install", "--no-config", "--quiet", "--python", str(target), *requirements]
    return subprocess.run(venv, check=False).returncode or subprocess.run(install, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
