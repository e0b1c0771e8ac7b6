"""Install real MCP servers for the tests into ``.mcp-servers`` of this repository; the tests skip what is not there.

Run it with ``uv run python tools/install_mcp_servers.py``. It needs uv, npm and their registries.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / ".mcp-servers"
PYTHON = ["mcp-server-time==2026.10.19", "mcp-server-fetch==2026.10.24", "fastmcp==4.1.2"]
NODE = ["@modelcontextprotocol/server-everything@2026.8.31", "@modelcontextprotocol/server-memory"]


def main() -> int:
    """Install all that the tools at hand can, and return the exit code."""
    FOLDER.mkdir(exist_ok=True)
    failed = False
    python = FOLDER / "python"
    steps = [
        ["uv", "venv", "--quiet", "--allow-existing", "--python", sys.executable, str(python)],
        ["uv", "pip", "install", "--quiet", "--compile-bytecode", "--python", str(python / "bin" / "python"), *PYTHON],
        ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(FOLDER / "node"), *NODE],
    ]
    for step in steps:
        if shutil.which(step[0]) is None:
            print(f"{step[0]} is not on PATH; left out: {' '.join(step)}", file=sys.stderr)
            failed = True
        else:
            failed |= subprocess.run(step, check=False).returncode != 0
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
