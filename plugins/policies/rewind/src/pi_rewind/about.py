"""What trees of git do not contain: permissions and empty folders, stored in an object next to each tree.

A checkpoint is named ``TREE:ABOUT``; those of version 1.0 are only ``TREE``, and have no permissions to restore.
"""

from __future__ import annotations

import json
import stat
from typing import TYPE_CHECKING

from attrs import field, frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["FOLDER", "LINK", "PROGRAM", "About", "Usual", "parents_of", "split_name", "usual_of"]

PROGRAM = "100755"
LINK = "120000"
FOLDER = "040000"
"""git's modes of executable files, links and folders."""


@frozen
class Usual:
    """The permissions that most files and folders have; only others are recorded for each path.

    Attributes:
        file: Those of a file that is not executable, such as ``0o644``.
    """

    file: int

    @property
    def program(self) -> int:
        """Those of an executable file, and of a folder."""
        return self.file | (self.file & 0o444) >> 2

    def of_file(self, mode: int) -> int:
        """Return those of a file that is executable for its owner, or not, as in ``mode``."""
        return self.program if mode & 0o100 else self.file


@frozen
class About:
    """Permissions and empty folders of a tree.

    Attributes:
        usual: The permissions of every path that is not in ``modes``.
        modes: Other permissions by path; the names of folders end with ``/``.
        empty: Folders without a file in the tree: those that contain nothing, not even ignored files, and before a
            restore those in which it may write.
    """

    usual: Usual
    modes: Mapping[str, int] = field(factory=dict)
    empty: frozenset[str] = frozenset()

    def permissions(self, path: str, mode: str | None) -> int | None:
        """Return the permissions of a path with a mode of git; None for a link or nothing."""
        if mode is None or mode == LINK:
            return None
        if mode == FOLDER:
            return self.modes.get(f"{path}/", self.usual.program)
        return self.modes.get(path, self.usual.program if mode == PROGRAM else self.usual.file)

    def dump(self) -> bytes:
        """Return it as JSON; equal ones are equal byte for byte."""
        data = {"usual": self.usual.file, "modes": dict(self.modes), "empty": sorted(self.empty)}
        return json.dumps(data, sort_keys=True).encode()

    @classmethod
    def load(cls, data: bytes) -> About:
        """Read what ``dump`` returned.

        Raises:
            ValueError: It is something else: a session can name any object, such as a file of the project.
        """
        found = json.loads(data)
        match found:
            case {"usual": int(usual), "modes": dict(modes), "empty": list(empty)}:
                if all(isinstance(each, int) for each in modes.values()) and all(map(_is_inside, [*modes, *empty])):
                    return cls(Usual(usual), modes, frozenset(empty))
        raise ValueError("not the permissions of a checkpoint")


def _is_inside(path: object) -> bool:
    """Whether this is the path of a file or folder below the root."""
    return isinstance(path, str) and not path.startswith("/") and "\0" not in path and ".." not in path.split("/")


def usual_of(mode: int) -> Usual:
    """Return the usual permissions, given the mode of a file that was made with the user's umask."""
    return Usual(stat.S_IMODE(mode) & 0o666)


def split_name(name: str) -> tuple[str, str | None]:
    """Return the names of tree and object of a checkpoint's name."""
    tree, _, about = name.partition(":")
    return tree, about or None


def parents_of(paths: Iterable[str]) -> set[str]:
    """Return the folders that contain paths, up to the root, which is left out."""
    found: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return found
