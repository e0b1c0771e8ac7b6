"""Install real MCP servers and the conformance suite for the tests into ``.mcp-servers`` of this repository.

The tests that need one of them skip themselves where it is not there. Run it with
``uv run python tools/install_mcp_servers.py``; it needs uv, npm and their registries.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / ".mcp-servers"
PYTHON = ["mcp-server-time==2026.10.19", "mcp-server-fetch==2026.10.24", "fastmcp==4.1.2"]
NODE = {
    "node": ["@modelcontextprotocol/server-everything@2026.8.31", "@modelcontextprotocol/server-memory@2026.8.31"],
    # The suite as it is released, and the version that knows the protocol of 2026-07-28; both need a newer Node.js than
    # distributions have.
    "conformance": ["@modelcontextprotocol/conformance@0.1.16", "node@22.23.3"],
    "conformance-next": ["@modelcontextprotocol/conformance@0.2.0-alpha.12"],
}


def main() -> int:
    """Install all that the tools at hand can, and return the exit code."""
    FOLDER.mkdir(exist_ok=True)
    failed = False
    python = FOLDER / "python"
    steps = [
        ["uv", "venv", "--quiet", "--allow-existing", "--python", sys.executable, str(python)],
        ["uv", "pip", "install", "--quiet", "--compile-bytecode", "--python", str(python / "bin" / "python"), *PYTHON],
    ]
    for folder, packages in NODE.items():
        npm = [
            "npm",
            "install",
            "--silent",
            "--no-audit",
            "--no-fund",
            "--fetch-retries=1",
            "--prefix",
            str(FOLDER / folder),
        ]
        steps.append([*npm, *packages])
    for step in steps:
        if shutil.which(step[0]) is None:
            print(f"{step[0]} is not on PATH; left out: {' '.join(step)}", file=sys.stderr)
            failed = True
        else:
            failed |= subprocess.run(step, check=False).returncode != 0
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
