"""Reads the resource files of one kind, and reads a file again only after it has changed."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from attrs import evolve

import pi_hookspecs
from pi_core.base.sizes import format_size
from pi_hookspecs.deferred import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pi_core.resources.cache import ContentCache
    from pi_hookspecs import Resource, ResourceContent, ResourceFile, ResourceKind, ResourceProblem

__all__ = ["FileReader", "ReadFile"]


@frozen(eq=False, repr=False)
class ReadFile:
    """A file and its content.

    Attributes:
        identity: Device and inode, because two paths may refer to the same file.
        resource: The parsed resource; None if the file is not used.
    """

    identity: tuple[int, int]
    resource: Resource | None
    problems: tuple[ResourceProblem, ...]


class FileReader:
    """Reads files of a kind.

    Args:
        kind: Parses the files.
        cache: Contents that earlier starts read.
    """

    def __init__(self, kind: ResourceKind, cache: ContentCache) -> None:
        self._kind = kind
        self._cache = cache
        self._read: dict[ResourceFile, tuple[tuple[int, ...], ReadFile]] = {}

    def read_all(self, files: Iterable[ResourceFile]) -> list[ReadFile]:
        """Return the contents of the files; for an unchanged file the same object as before."""
        before, self._read = self._read, {}
        found = []
        for file in files:
            mark, read = self._read_file(file, before.get(file))
            self._read[file] = mark, read
            found.append(read)
        self._cache.save()
        return found

    def _read_file(
        self, file: ResourceFile, before: tuple[tuple[int, ...], ReadFile] | None
    ) -> tuple[tuple[int, ...], ReadFile]:
        try:
            status = os.stat(file.path)
        except OSError as error:
            return (), self._rejected(file, (0, 0), f"cannot be read: {error.strerror}")
        mark = (status.st_mtime_ns, status.st_size, status.st_ino, status.st_mode)
        if before is not None and before[0] == mark:
            return before
        identity = status.st_dev, status.st_ino
        if not stat.S_ISREG(status.st_mode):
            return mark, self._rejected(file, identity, "is not a regular file")
        if status.st_size > self._kind.max_bytes:
            size, limit = format_size(status.st_size), format_size(self._kind.max_bytes)
            return mark, self._rejected(file, identity, f"is not read: its size is {size}, the limit is {limit}")
        content = self._cache.get(file.path, mark)
        if content is None:
            try:
                text = self._read_text(file.path)
            except OSError as error:
                return (), self._rejected(file, identity, f"cannot be read: {error.strerror}")
            content = self._parse(file, text)
            self._cache.put(file.path, mark, content)
        return mark, self._to_read_file(file, identity, content)

    def _read_text(self, path: str) -> str:
        with open(path, "rb") as stream:
            return stream.read(self._kind.max_bytes).decode("utf-8-sig", errors="replace")

    def _parse(self, file: ResourceFile, text: str) -> ResourceContent:
        """Parse a text with the kind, which belongs to a plugin; report its exceptions as problems."""
        from pi_core.agent.safe_text import format_exception, safe_repr

        if "\0" in text:
            message = "is not used: it is not text, because it contains NUL characters"
            return pi_hookspecs.ResourceContent(
                name=None, problems=[pi_hookspecs.ResourceProblem(path=file.path, message=message, level="error")]
            )
        try:
            content: object = self._kind.read(file, text)
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything; the other files are still read
            content = None
            message = f"kind {self._kind.name!r} could not read it: {format_exception(error)}"
        else:
            if isinstance(content, pi_hookspecs.ResourceContent):
                return content
            message = f"kind {self._kind.name!r} read it as {safe_repr(content)}, which is not of type ResourceContent"
        return pi_hookspecs.ResourceContent(
            name=None, problems=[pi_hookspecs.ResourceProblem(path=file.path, message=message, level="error")]
        )

    def _to_read_file(self, file: ResourceFile, identity: tuple[int, int], content: ResourceContent) -> ReadFile:
        problems = tuple(evolve(each, path=each.path or file.path, kind=self._kind.name) for each in content.problems)
        if content.name is None:
            return ReadFile(identity, None, problems)
        resource = pi_hookspecs.Resource(
            kind=self._kind.name,
            name=content.name,
            path=file.path,
            scope=file.scope,
            source=file.source,
            base_dir=file.base_dir,
            description=content.description,
            data=content.data,
        )
        return ReadFile(identity, resource, problems)

    def _rejected(self, file: ResourceFile, identity: tuple[int, int], message: str) -> ReadFile:
        problem = pi_hookspecs.ResourceProblem(path=file.path, message=message, kind=self._kind.name, level="error")
        return ReadFile(identity, None, (problem,))
