"""An agent for Harbor and terminal-bench: ``harbor run --agent-import-path pi_eval.harbor:PluggyPi``.

A subclass of Harbor's agent for the original pi that installs this one. Import it where ``harbor`` is installed.
"""

from __future__ import annotations

import re
import shlex
from typing import Any

from harbor.agents.installed.pi import Pi  # type: ignore[import-not-found]

__all__ = ["PluggyPi"]

_FOLDER = "$HOME/.pluggypi"


class PluggyPi(Pi):  # type: ignore[misc] # harbor is not installed where types are checked
    """Installs pi with pip; limits and MCP servers are pi's own."""

    @staticmethod
    def name() -> str:
        """Return the agent's name in results."""
        return "pluggypi"

    def get_version_command(self) -> str:
        """Return the command that prints the version."""
        return f"{_FOLDER}/bin/pi --version"

    async def install(self, environment: Any) -> None:
        """Install pi into a separate environment, which the shell finds through the file that ``run`` sources."""
        wanted = f"pluggypi[mcp]=={self._version}" if self._version else "pluggypi[mcp]"
        path = shlex.quote(f'export PATH="{_FOLDER}/bin:$PATH"')
        await self.exec_as_agent(
            environment,
            command=(
                f"set -euo pipefail; python3 -m venv {_FOLDER}"
                f" && {_FOLDER}/bin/pip install --quiet {shlex.quote(wanted)}"
                f" && mkdir -p ~/.nvm && echo {path} >> ~/.nvm/nvm.sh && {self.get_version_command()}"
            ),
        )

    def build_cli_flags(self) -> str:
        """Return Harbor's options with the limit of turns, which its agent implements as an extension."""
        flags, turns = super().build_cli_flags(), self.options.max_turns
        return f"{flags} --max-turns {turns}".strip() if turns is not None else str(flags)

    async def exec_as_agent(self, environment: Any, command: str, **options: Any) -> Any:
        """Run a command without the extensions in TypeScript that Harbor adds for turns and MCP servers."""
        return await super().exec_as_agent(environment, re.sub(r"--extension \S+\.ts ", "", command), **options)
