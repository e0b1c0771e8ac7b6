"""Names of guarded files, and a fast search for the last of many patterns that matches a path."""

from __future__ import annotations

import glob
import re
from collections import defaultdict
from fnmatch import fnmatchcase, translate
from functools import lru_cache

from attrs import frozen

__all__ = ["PROTECTED", "RUN_LATER", "Patterns", "fits", "patterns_of"]

PROTECTED = (
    ".env",
    ".env.*",
    "!.env.example",
    "!.env.sample",
    "!.env.template",
    "!.env.*.example",
    ".git",
    ".ssh",
    ".gnupg",
    ".aws/credentials",
    ".kube/config",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".bashrc",
    ".bash_profile",
    ".profile",
    ".zshrc",
    "id_rsa*",
    "id_ed25519*",
    "id_ecdsa*",
    "*.pem",
    "*.key",
    "*.p12",
    ".pi/settings.json",
    ".pi/extensions",
    ".pi/mcp.json",
    "site-packages/pi_*",
    "site-packages/pluggypi*",
)
"""Guarded in every folder, with everything below them. ``!`` excludes a name again."""

RUN_LATER = (
    ".bash_aliases",
    ".bash_login",
    ".bash_logout",
    ".inputrc",
    ".pam_environment",
    ".xinitrc",
    ".xprofile",
    ".xsession",
    ".xsessionrc",
    ".zlogin",
    ".zlogout",
    ".zprofile",
    ".zshenv",
    ".config/fish",
    ".config/zsh",
    ".config/environment.d",
    ".config/autostart",
    ".config/systemd",
    "Library/LaunchAgents",
    "Library/LaunchDaemons",
    "~/bin",
    "~/.local/bin",
    "~/.cargo/bin",
    ".gitconfig",
    ".config/git",
    ".hgrc",
    ".husky",
    ".pre-commit-config.yaml",
    ".github/workflows",
    ".gitlab-ci.yml",
    ".circleci",
    ".vimrc",
    ".gvimrc",
    ".exrc",
    ".vim",
    ".config/nvim",
    ".emacs",
    ".emacs.d",
    ".config/emacs",
    ".config/helix",
    ".vscode/launch.json",
    ".vscode/settings.json",
    ".vscode/tasks.json",
    ".idea/runConfigurations",
    ".devcontainer",
    ".tmux.conf",
    ".config/tmux",
    ".screenrc",
    ".envrc",
    ".config/direnv",
    ".mise.toml",
    ".gdbinit",
    ".lldbinit",
    ".psqlrc",
    ".sqliterc",
    ".curlrc",
    ".wgetrc",
    ".yarnrc.yml",
    ".condarc",
    ".irbrc",
    ".pryrc",
    ".Rprofile",
    ".cargo/config",
    ".cargo/config.toml",
    ".config/pip",
    ".pip/pip.conf",
    ".config/uv",
    ".docker/config.json",
    ".docker/cli-plugins",
    ".m2/settings.xml",
    ".gradle/init.gradle",
    ".gradle/init.d",
    ".gem/credentials",
    ".gitmodules",
    ".gitattributes",
    "conftest.py",
    "sitecustomize.py",
    "usercustomize.py",
    "site-packages/*.pth",
)
"""Files that other programs read as commands or execute when they start; guarded against writing."""


@frozen(eq=False)
class Patterns:
    """Patterns, indexed by the first name that they require.

    Attributes:
        plain: The places of the patterns whose first name is a plain one, by that name.
        wild: The places of all others.
        first: What the first names of those others look like, all in one expression.
        wanted: The names that each pattern requires, in lower case, and whether it is anchored at the root.
    """

    plain: dict[str, list[int]]
    wild: list[int]
    first: re.Pattern[str]
    wanted: list[tuple[list[str], bool]]

    def last(self, path: str) -> int | None:
        """Return the index of the last pattern that matches an absolute path or one of its parent folders."""
        parts = path.casefold().strip("/").split("/")
        found = -1
        for start, part in enumerate(parts):
            wild = self.wild if self.first.match(part) else ()
            for place in (*self.plain.get(part, ()), *wild):
                wanted, fixed = self.wanted[place]
                rest = parts[start : start + len(wanted)]
                if place > found and not (fixed and start) and len(rest) == len(wanted):
                    found = place if all(map(fnmatchcase, rest, wanted)) else found
        return found if found >= 0 else None


@lru_cache(maxsize=64)
def patterns_of(names: tuple[str, ...], home: str) -> Patterns:
    """Compile patterns for matching.

    Args:
        names: As in ``guardrails.protectedPaths``, ``!`` and ``~/`` included.
        home: The home folder, for ``~``.
    """
    plain: dict[str, list[int]] = defaultdict(list)
    wild: list[int] = []
    wanted: list[tuple[list[str], bool]] = []
    for place, name in enumerate(names):
        pattern = name.removeprefix("!").rstrip("/") or "/"
        if pattern.startswith("~/"):
            pattern = home + pattern[1:]
        pattern = pattern.removesuffix("/**").removeprefix("**/").casefold()
        first, *rest = pattern.strip("/").split("/")
        wanted.append(([first, *rest], pattern.startswith("/")))
        (plain[first] if glob.escape(first) == first else wild).append(place)
    first_names = "|".join(translate(wanted[place][0][0]) for place in wild)
    return Patterns(plain, wild, re.compile(first_names or "(?!)"), wanted)


def fits(path: str, pattern: str, home: str) -> bool:
    """Whether a pattern matches the name of an absolute path or of one of its parent folders."""
    return patterns_of((pattern,), home).last(path) is not None
