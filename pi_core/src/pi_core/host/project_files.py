"""The names of files that decide, merely by existing in a project, what pi, its plugins or other programs do later."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["project_files"]

_OWN = (".pi", ".agents")
"""Settings, extensions, skills, prompts and themes of the project."""

_SHELLS = ".bashrc .bash_profile .bash_login .bash_logout .profile .zshrc .zprofile .zshenv .zlogin .zlogout .envrc"
_EDITORS = (
    ".vscode/tasks.json .vscode/settings.json .vscode/launch.json .vscode/mcp.json .devcontainer .devcontainer.json"
    " .exrc .vimrc .nvimrc .nvim.lua .lvimrc .dir-locals.el .gdbinit .lldbinit"
)
_AGENTS = (
    "AGENTS.md CLAUDE.md CLAUDE.local.md GEMINI.md .mcp.json .cursorrules .windsurfrules"
    " .github/copilot-instructions.md .claude/settings.json .claude/settings.local.json .claude/agents"
    " .claude/commands .claude/hooks .claude/skills"
    " .cursor/mcp.json .cursor/hooks.json .cursor/rules .gemini/settings.json .codex/config.toml"
)
_TOOLS = (
    ".gitconfig .gitmodules .husky .pre-commit-config.yaml lefthook.yml .lefthook.yml .cargo/config .cargo/config.toml"
    " .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs mise.toml .mise.toml .mise .tool-versions"
)
_OTHER_PROGRAMS = (*_SHELLS.split(), *_EDITORS.split(), *_AGENTS.split(), *_TOOLS.split())
"""What shells, editors, other agents and build tools run or follow as soon as they are started in the folder."""


def project_files(installed: Iterable[str], loaded: Iterable[str]) -> tuple[str, ...]:
    """Return the names: pi's own, those of plugins, and those of other programs.

    Args:
        installed: The names that installed plugins register. Plugins count that are disabled, or not loaded because
            their files do not exist: a later session may use them.
        loaded: The names that plugins of this host have registered, local extensions included.
    """
    return tuple(dict.fromkeys((*_OWN, *installed, *loaded, *_OTHER_PROGRAMS)))
