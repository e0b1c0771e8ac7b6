"""Which files are guarded, and what a path really leads to: links and ``..`` do not get around a guard."""

from __future__ import annotations

import glob
import os
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from attrs import field, frozen

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["PROTECTED", "Places"]

PROTECTED = (
    ".env",
    ".env.*",
    "!.env.example",
    "!.env.sample",
    "!.env.template",
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
)
"""Guarded wherever they lie, with all that is below them. ``!`` takes a name out again."""

_SYSTEM = "/etc /usr /bin /sbin /lib /lib64 /boot /dev /proc /sys /System /Library /var/lib /var/spool".split()
_FAMILIES = "/ /home /root /var /opt /Users /mnt /media /srv /Applications".split()
_HARMLESS = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/zero"})
_MOST_FILES = 1000


@frozen(kw_only=True)
class Places:
    """The folders that paths are measured by.

    Attributes:
        cwd: What relative paths are relative to, absolute.
        project: The session's working directory, absolute; ``cwd`` when None.
        home: The user's folder.
        agent_dir: pi's own folder: what is in it decides over this guard.
        patterns: Names that are guarded, see ``PROTECTED``; those of the user come after ours.
    """

    cwd: str
    home: str
    agent_dir: str
    project: str | None = None
    patterns: Sequence[str] = field(default=PROTECTED)

    @property
    def root(self) -> str:
        """The folder that is there to be worked in."""
        return self.project or self.cwd

    def protection(self, path: str) -> str | None:
        """Return the pattern that guards a path, as it is written or as it really is; None where none does."""
        for each in self.meanings(path):
            if self._inside(each, self.agent_dir):
                return self.agent_dir
            found = self._pattern(each)
            if found is not None:
                return found
        return None

    def system(self, path: str) -> str | None:
        """Return the folder of the operating system that a path lies in; the working directory is never part of it."""
        for each in self.meanings(path):
            if self._is_harmless(each) or self._inside(each, self.root):
                continue
            found = next((folder for folder in _SYSTEM if self._inside(each, folder)), None)
            if found is not None:
                return found
        return None

    def is_device(self, path: str) -> bool:
        """Whether writing there reaches a device: a disk, and not ``/dev/null``."""
        return any(self._inside(each, "/dev") and not self._is_harmless(each) for each in self.meanings(path))

    def is_precious(self, path: str) -> bool:
        """Whether a path is a whole system, home, or folder around the working directory, or everything in one."""
        return any(self._is_precious(each.removesuffix("/*") or "/") for each in self.meanings(path))

    def is_outside(self, path: str) -> bool:
        """Whether a path leads out of the working directory, and not to a folder for temporary files."""
        temporary = (os.path.realpath("/tmp"), os.path.realpath("/var/tmp"))  # noqa: S108 - to be compared with
        real = self.meanings(path)[-1]
        return not any(self._inside(real, os.path.realpath(each)) for each in (self.root, *temporary))

    def meanings(self, path: str) -> tuple[str, str]:
        """Return a path as written, absolute and without dots, and where it really leads."""
        absolute = os.path.join(self.cwd, path)
        try:
            real = os.path.realpath(absolute)
        except (OSError, ValueError):
            real = absolute
        return os.path.normpath(absolute).replace("//", "/"), real

    def matches(self, pattern: str) -> Iterator[str]:
        """Go through the files that the shell would put in the place of a pattern."""
        try:
            yield from islice(glob.iglob(os.path.join(self.cwd, pattern), include_hidden=False), _MOST_FILES)
        except (OSError, ValueError, RecursionError):
            return

    def fits(self, path: str, pattern: str) -> bool:
        """Whether an absolute path, or a folder that it is in, is meant by a pattern."""
        return _fits(path.casefold(), self._absolute(pattern).casefold())

    def _is_precious(self, path: str) -> bool:
        if path in _FAMILIES or path in _SYSTEM or path == self.home or path == os.path.realpath(self.home):
            return True
        around = {self.cwd, self.root, os.path.realpath(self.root)} - {path}
        return any(self._inside(each, path) for each in around)

    def _is_harmless(self, path: str) -> bool:
        return path in _HARMLESS or path.startswith(("/dev/fd/", "/dev/pts/"))

    def _pattern(self, path: str) -> str | None:
        """Of the patterns that fit, the last counts, as in an ignore file."""
        found = None
        for pattern in self.patterns:
            taken_out = pattern.startswith("!")
            if self.fits(path, pattern.removeprefix("!")):
                found = None if taken_out else pattern
        return found

    def _absolute(self, pattern: str) -> str:
        pattern = pattern.rstrip("/") or "/"
        return self.home + pattern[1:] if pattern.startswith("~/") else pattern

    @staticmethod
    def _inside(path: str, folder: str) -> bool:
        return path == folder or path.startswith(folder.rstrip("/") + "/")


def _fits(path: str, pattern: str) -> bool:
    """Whether a path, or a folder that it is in, has a name like the pattern; an absolute one fits from the root."""
    wanted, fixed, plain = _read_pattern(pattern)
    parts = path.strip("/").split("/")
    for start in range(1 if fixed else len(parts) - len(wanted) + 1):
        if plain and parts[start] != wanted[0]:  # most names are others, and this is the cheapest way to see it
            continue
        if len(parts) - start >= len(wanted) and all(map(fnmatchcase, parts[start:], wanted)):
            return True
    return False


@lru_cache(maxsize=256)
def _read_pattern(pattern: str) -> tuple[list[str], bool, bool]:
    """Return the names that a pattern asks for, whether from the root on, and whether the first is a plain name."""
    names = pattern.removesuffix("/**").removeprefix("**/")
    wanted = names.strip("/").split("/")
    return wanted, names.startswith("/"), glob.escape(wanted[0]) == wanted[0]
