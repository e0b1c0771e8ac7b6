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
    " .exrc .vimrc .gvimrc .vim .nvimrc .nvim.lua .lvimrc .dir-locals.el .gdbinit .lldbinit .idea .fleet .zed"
)
_AGENTS = (
    "AGENTS.md CLAUDE.md CLAUDE.local.md GEMINI.md .mcp.json .cursorrules .windsurfrules"
    " .github/copilot-instructions.md .claude/settings.json .claude/settings.local.json .claude/agents"
    " .claude/commands .claude/hooks .claude/skills"
    " .cursor/mcp.json .cursor/hooks.json .cursor/rules .gemini/settings.json .codex/config.toml"
    " opencode.json opencode.jsonc .opencode .clinerules .roo .roorules .continue .aider.conf.yml .kilocode .kiro"
    " .amazonq .junie .windsurf .qwen crush.json .crush.json .goosehints .github/instructions .github/prompts"
    " .github/agents .github/chatmodes .gemini/commands .gemini/extensions .codex/prompts .cursor/commands .factory"
    " .augment .trae .rules AGENT.md WARP.md"
)
_TOOLS = (
    ".gitconfig .gitmodules .husky .pre-commit-config.yaml lefthook.yml .lefthook.yml .cargo/config .cargo/config.toml"
    " .npmrc .yarnrc .yarnrc.yml .yarn/releases .yarn/plugins .pnpmfile.cjs .pnpmfile.mjs mise.toml .mise.toml .mise"
    " .tool-versions .direnv .gitattributes .hg/hgrc .jj/repo/config.toml conftest.py sitecustomize.py usercustomize.py"
    " .lefthook lefthook-local.yml .lefthook-local.yml .overcommit.yml .bazelrc .mvn bunfig.toml pip.conf .terraformrc"
    " .pdbrc .irbrc .pryrc .ghci .Rprofile"
)
_BUILD_SERVERS = (
    ".github/workflows .github/actions .gitea/workflows .forgejo/workflows .gitlab-ci.yml .circleci .travis.yml"
    " .drone.yml .woodpecker.yml .woodpecker.yaml .woodpecker Jenkinsfile azure-pipelines.yml azure-pipelines.yaml"
    " bitbucket-pipelines.yml .buildkite .semaphore .cirrus.yml .appveyor.yml appveyor.yml cloudbuild.yaml"
    " buildspec.yml .teamcity .tekton codemagic.yaml bitrise.yml"
)
_OTHER_PROGRAMS = tuple(f"{_SHELLS} {_EDITORS} {_AGENTS} {_TOOLS} {_BUILD_SERVERS}".split())
"""What shells, editors, other agents, build tools and build servers run or follow as soon as they are started in the
folder, or get it."""


def project_files(installed: Iterable[str], loaded: Iterable[str]) -> tuple[str, ...]:
    """Return the names: pi's own, those of plugins, and those of other programs.

    Args:
        installed: The names that installed plugins register. Plugins count that are disabled, or not loaded because
            their files do not exist: a later session may use them.
        loaded: The names that plugins of this host have registered, local extensions included.
    """
    return tuple(dict.fromkeys((*_OWN, *installed, *loaded, *_OTHER_PROGRAMS)))
