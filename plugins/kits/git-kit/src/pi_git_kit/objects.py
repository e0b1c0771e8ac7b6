"""Reads objects of a repository: their ids, and many contents with one process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_git_kit.starting import GitFailed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pi_git_kit.git import Git

__all__ = ["read_objects", "resolve"]


def resolve(git: Git, name: str) -> str | None:
    """Return the id of an object; None if there is no object of this name."""
    output = git.attempt("rev-parse", "--verify", "--quiet", "--end-of-options", name)
    return output.data.decode().strip() or None if not output.code else None


def read_objects(git: Git, names: Iterable[str]) -> dict[str, bytes]:
    """Return the contents of objects by their names.

    Raises:
        GitFailed: One does not exist.
    """
    wanted = list(dict.fromkeys(names))
    output = git.read("cat-file", "--batch", data="".join(f"{name}\n" for name in wanted).encode())
    found, place = {}, 0
    for name in wanted:
        end = output.index(b"\n", place)
        header = output[place:end].split()
        if header[-1] == b"missing":
            raise GitFailed(
                f"The object {name} is not in {str(git.git_dir)!r}: the repository has been cleaned up since"
            )
        size = int(header[2])
        found[name] = output[end + 1 : end + 1 + size]
        place = end + 1 + size + 1
    return found
