"""Install Harbor and Inspect AI for the tests of their agents into ``.evaluation-tools`` of this repository.

The tests that need one of them skip themselves where it is not there. Run it with
``uv run python tools/install_evaluation_tools.py``; it needs uv and the package index.

Harbor wants Python 3.12. Its agents work with 3.11, too, where the names that ``typing`` lacks are put there, which the
tests do; so it is installed without its check of the version, and with what its agents import.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / ".evaluation-tools"
HARBOR = ["--no-deps", "--ignore-requires-python", "harbor==0.25.0"]
OF_HARBOR = (
    "typing_extensions pydantic pyyaml rich toml tenacity python-dotenv packaging shortuuid typer jinja2 dirhash semver"
    " httpx filelock platformdirs pyjwt jsonschema pathspec requests certifi fastapi litellm"
)
INSPECT = ["inspect-ai==0.3.285", "openai", "tiktoken"]


def main() -> int:
    """Install both and return the exit code."""
    FOLDER.mkdir(exist_ok=True)
    harbor, inspect = (FOLDER / name / "bin" / "python" for name in ("harbor", "inspect"))
    install = ["uv", "pip", "install", "--no-config", "--quiet", "--python"]  # without the pins of this repository
    steps = [
        ["uv", "venv", "--quiet", "--allow-existing", "--seed", "--python", sys.executable, str(FOLDER / "harbor")],
        [str(harbor), "-m", "pip", "install", "--quiet", *HARBOR],
        [*install, str(harbor), *OF_HARBOR.split()],
        ["uv", "venv", "--quiet", "--allow-existing", "--python", sys.executable, str(FOLDER / "inspect")],
        [*install, str(inspect), *INSPECT],
    ]
    codes = [subprocess.run(step, check=False).returncode for step in steps]
    return int(any(codes))


if __name__ == "__main__":
    sys.exit(main())
