"""Which files are guarded, and where a path really leads: links and ``..`` do not bypass the guard.

The last of many patterns that matches a path decides; the search for it is fast.
"""

from __future__ import annotations

import glob
import os
import re
from collections import defaultdict
from fnmatch import fnmatchcase, translate
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from attrs import field, frozen

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["GUARDED", "PROTECTED", "RUN_LATER", "Patterns", "Places", "fits", "patterns_of"]

PROTECTED = (
    ".env",
    ".env.*",
    "!.env.example",
    "!.env.sample",
    "!.env.template",
    "!.env.*.example",
    "!.env.example.*",
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
    ".inputrc",
    ".pam_environment",
    ".xinitrc",
    ".xprofile",
    ".xsession",
    ".xsessionrc",
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
    ".config/git",
    ".hgrc",
    ".config/nvim",
    ".emacs",
    ".emacs.d",
    ".config/emacs",
    ".config/helix",
    ".tmux.conf",
    ".config/tmux",
    ".screenrc",
    ".config/direnv",
    ".psqlrc",
    ".sqliterc",
    ".curlrc",
    ".wgetrc",
    ".condarc",
    ".irbrc",
    ".pryrc",
    ".Rprofile",
    ".config/pip",
    ".pip/pip.conf",
    ".config/uv",
    ".docker/config.json",
    ".docker/cli-plugins",
    ".m2/settings.xml",
    ".gradle/init.gradle",
    ".gradle/init.d",
    ".gem/credentials",
    "site-packages/*.pth",
)
"""Files of the user, not of a project, that programs read as commands or execute when they start; guarded against
writing. Those of projects come from ``ctx.project_files``, which sandboxes use, too."""


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


GUARDED = (*RUN_LATER, *PROTECTED)
"""Default names of guarded files."""

_LATER = frozenset(RUN_LATER)
_SYSTEM = "/etc /usr /bin /sbin /lib /lib64 /boot /dev /proc /sys /System /Library /var/lib /var/spool".split()
_FAMILIES = (
    "/ /home /root /var /opt /Users /mnt /media /srv /Applications /usr/bin /usr/lib /usr/lib64 /usr/local /usr/sbin "
    "/usr/share /usr/include /var/log /var/www /opt/homebrew /Volumes"
).split()
_TEMPORARY = ("/tmp", "/var/tmp")  # noqa: S108 - to be compared with
_REGENERATED = re.compile(r"(?i)\.(log|out|err|tmp|temp|pid|lock|cache|swp|part|trace|prof)(\.\d+)?$")
"""Names of files that programs write again."""

_HARMLESS = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/zero"})
_MOST_FILES = 1000
_LONGEST = 4096
"""Maximum length of a path; a longer one cannot exist."""


@frozen(kw_only=True)
class Places:
    """The folders that paths are measured by.

    Attributes:
        cwd: What relative paths are relative to, absolute.
        project: The session's working directory, absolute; ``cwd`` when None.
        home: The user's folder.
        agent_dir: pi's own folder, whose files configure this guard.
        patterns: Names that are guarded, see ``GUARDED``; the user's patterns come after the defaults.
        followed: Names of files that pi, its plugins and other agents follow; like those that run later.
    """

    cwd: str
    home: str
    agent_dir: str
    project: str | None = None
    patterns: tuple[str, ...] = field(default=GUARDED)
    followed: tuple[str, ...] = ()
    _meanings: dict[str, tuple[str, str]] = field(factory=dict, init=False, eq=False, repr=False)
    """Cache of resolved paths: one judgement asks for each path several times."""

    @property
    def root(self) -> str:
        """The folder that the agent may work in."""
        return self.project or self.cwd

    def protection(self, path: str, *, written: bool = True) -> str | None:
        """Return the pattern that guards a path as written or as resolved; None if none does.

        Args:
            path: A file or folder.
            written: Whether it is certain to be written; files that run later are guarded only then.
        """
        for each in self.meanings(path):
            if self._inside(each, self.agent_dir):
                return self.agent_dir
            found = self._pattern(each)
            if found is not None and (written or not self.runs_later(found)):
                return found
        return None

    def runs_later(self, pattern: str) -> bool:
        """Whether a pattern that ``protection`` returned is for files that other programs run later."""
        return pattern in _LATER or pattern in self.followed

    def system(self, path: str) -> str | None:
        """Return the operating system folder that contains a path; the working directory is never part of one."""
        for each in self.meanings(path):
            if self._is_harmless(each) or self._inside(each, self.root):
                continue
            found = next((folder for folder in _SYSTEM if self._inside(each, folder)), None)
            if found is not None:
                return found
        return None

    def is_device(self, path: str) -> bool:
        """Whether writing there reaches a device such as a disk, not ``/dev/null``."""
        return any(self._inside(each, "/dev") and not self._is_harmless(each) for each in self.meanings(path))

    def is_precious(self, path: str) -> bool:
        """Whether a path is the root, the home folder, a parent of the working directory, or everything in one."""
        return any(self._is_precious(each.removesuffix("/*") or "/") for each in self.meanings(path))

    def is_outside(self, path: str) -> bool:
        """Whether a path is outside the working directory and not in a folder for temporary files."""
        if not self.leaves_project(path):
            return False
        real, home = self.meanings(path)[1], os.path.realpath(self.home)
        folders = [folder for folder in map(os.path.realpath, _TEMPORARY) if self._inside(real, folder)]
        return not folders or any(self._inside(home, folder) and self._inside(real, home) for folder in folders)

    def leaves_project(self, path: str) -> bool:
        """Whether a path is outside the working directory, temporary folders included."""
        written, real = self.meanings(path)
        if self._is_harmless(written) or self._is_harmless(real):
            return False
        return not self._inside(real, os.path.realpath(self.root))

    def size(self, path: str) -> int | None:
        """Return the size of a file in bytes; None if it does not exist."""
        try:
            return os.stat(self.meanings(path)[1]).st_size
        except (OSError, ValueError):
            return None

    def may_hold_work(self, path: str) -> bool:
        """Whether emptying a file may lose something: it exists and has content, and is no log or temporary file."""
        if _REGENERATED.search(path) or (self.leaves_project(path) and not self.is_outside(path)):
            return False
        if self._is_harmless(self.meanings(path)[1]):
            return False
        return (self.size(path) or 0) > 0 or not os.path.isdir(self.cwd)

    def meanings(self, path: str) -> tuple[str, str]:
        """Return a path as written, absolute and without dots, and where it really leads."""
        known = self._meanings.get(path)
        if known is None:
            absolute = os.path.join(self.cwd, path)
            try:
                real = os.path.realpath(absolute) if len(path) <= _LONGEST else absolute
            except (OSError, ValueError):
                real = absolute
            known = self._meanings[path] = os.path.normpath(absolute).replace("//", "/"), real
        return known

    def matches(self, pattern: str) -> Iterator[str]:
        """Yield the files to which the shell would expand a pattern."""
        try:
            yield from islice(glob.iglob(os.path.join(self.cwd, pattern), include_hidden=False), _MOST_FILES)
        except (OSError, ValueError, RecursionError):
            return

    def fits(self, path: str, pattern: str) -> bool:
        """Whether a pattern matches an absolute path or one of its parent folders."""
        return fits(path, pattern, self.home)

    def _is_precious(self, path: str) -> bool:
        if path in _FAMILIES or path in _SYSTEM or path == self.home or path == os.path.realpath(self.home):
            return True
        around = {self.cwd, self.root, os.path.realpath(self.root)} - {path}
        return any(self._inside(each, path) for each in around)

    def _is_harmless(self, path: str) -> bool:
        return path in _HARMLESS or path.startswith(("/dev/fd/", "/dev/pts/"))

    def _pattern(self, path: str) -> str | None:
        """Return the last matching pattern, which counts, as in an ignore file."""
        last = patterns_of(self.patterns, self.home).last(path)
        if last is None or self.patterns[last].startswith("!"):
            return None
        return self.patterns[last]

    @staticmethod
    def _inside(path: str, folder: str) -> bool:
        return path == folder or path.startswith(folder.rstrip("/") + "/")
