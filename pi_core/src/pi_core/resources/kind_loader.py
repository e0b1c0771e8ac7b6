"""Loads one kind of resource in one session: searches its places, and returns the same set until something changes."""

from __future__ import annotations

import os
from threading import Lock
from typing import TYPE_CHECKING

from attrs import evolve

import pi_hookspecs
from pi_core.resources.file_reader import FileReader
from pi_core.resources.places import find_places
from pi_core.resources.walking import Walk
from pi_hookspecs.resources import ResourceRequest, ResourceSet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pi_core.resources.cache import ContentCache
    from pi_core.resources.file_reader import ReadFile
    from pi_core.resources.places import Place, SearchContext
    from pi_hookspecs import Resource, ResourceFile, ResourceKind, ResourceProblem, Shadowed

__all__ = ["KindLoader"]


class KindLoader:
    """Finds and reads the resources of a kind.

    Args:
        kind: The kind to load.
        cache: Contents that earlier starts read.
    """

    def __init__(self, kind: ResourceKind, cache: ContentCache) -> None:
        self.kind = kind
        self._reader = FileReader(kind, cache)
        self._last_read: tuple[list[ReadFile], list[ResourceProblem]] = ([], [])
        self.latest = ResourceSet(kind=kind.name)
        self._lock = Lock()

    def is_empty(self, context: SearchContext) -> bool:
        """Return whether no place of the kind exists; this takes a few file system calls, too few for a thread."""
        if self.kind.find is not None or self._last_read != ([], []):
            return False
        return not any(each.required or os.path.isdir(each.path) for each in find_places(self.kind, context))

    def load(self, context: SearchContext) -> ResourceSet:
        """Return the resources, the same set until something changes; call it in a worker thread."""
        with self._lock:
            problems: list[ResourceProblem] = []
            files = dict.fromkeys(self._files(context, problems.append))
            read = self._reader.read_all(files)
            if not _is_unchanged(self._last_read, (read, problems)):
                self._last_read = read, problems
                self.latest = self._resolve_names(read, problems)
            return self.latest

    def _files(self, context: SearchContext, report: Callable[[ResourceProblem], None]) -> Iterator[ResourceFile]:
        if self.kind.find is not None:
            yield from self._found_by_kind(context, report)
            return
        walk = Walk(self.kind.accepts, report, recursive=self.kind.recursive)
        for place in find_places(self.kind, context):
            for path, base_dir in self._paths(place, walk, report):
                if place.picks is None or place.picks.includes(path):
                    yield pi_hookspecs.ResourceFile(
                        path=path, scope=place.scope, source=place.source, base_dir=base_dir
                    )

    def _paths(self, place: Place, walk: Walk, report: Callable[[ResourceProblem], None]) -> Iterator[tuple[str, str]]:
        if os.path.isdir(place.path):
            yield from ((path, place.path) for path in walk.files(place.path))
        elif os.path.exists(place.path) and place.required:
            yield place.path, os.path.dirname(place.path)
        elif place.required:
            message = (
                f"does not exist, though {_SOURCE_NAMES.get(place.source, place.source.replace(':', ' '))} names it"
            )
            report(pi_hookspecs.ResourceProblem(path=place.path, message=message, kind=self.kind.name))

    def _found_by_kind(
        self, context: SearchContext, report: Callable[[ResourceProblem], None]
    ) -> Iterator[ResourceFile]:
        from pathlib import Path

        from pi_core.agent.safe_text import format_exception, safe_repr

        assert self.kind.find is not None  # noqa: S101 - checked by the caller
        if context.only_explicit:
            return
        request = ResourceRequest(
            cwd=Path(context.cwd),
            agent_dir=Path(context.agent_dir),
            project_trusted=context.project_trusted,
            trust_decided=context.trust_decided,
        )
        try:
            found: list[object] = list(self.kind.find(request))
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything
            message = f"kind {self.kind.name!r} could not look for its files: {format_exception(error)}"
            report(pi_hookspecs.ResourceProblem(path=context.cwd, message=message, kind=self.kind.name, level="error"))
            return
        for file in found:
            if isinstance(file, pi_hookspecs.ResourceFile):
                yield file
            elif isinstance(file, pi_hookspecs.ResourceProblem):
                report(evolve(file, kind=self.kind.name))
            else:
                message = f"kind {self.kind.name!r} found {safe_repr(file)}, which is not of type ResourceFile"
                report(
                    pi_hookspecs.ResourceProblem(path=context.cwd, message=message, kind=self.kind.name, level="error")
                )

    def _resolve_names(self, read: list[ReadFile], problems: list[ResourceProblem]) -> ResourceSet:
        """Return the files as a set: each file once, and the first file of each name."""
        used: list[Resource] = []
        by_name: dict[str, Resource] = {}
        shadowed: list[Shadowed] = []
        problems = list(problems)
        seen: set[tuple[int, int]] = set()
        for each in read:
            if each.identity in seen and each.identity != (0, 0):  # another link to the same file
                continue
            seen.add(each.identity)
            problems += each.problems
            resource = each.resource
            if resource is None:
                continue
            first = by_name.setdefault(resource.name, resource)
            if first is resource or not self.kind.unique:
                used.append(resource)
                continue
            shadowed.append(pi_hookspecs.Shadowed(resource=resource, by=first))
            if self.kind.overrides:
                continue
            message = f"{self.kind.name} {resource.name!r} is already defined in {first.path}, which is used"
            problems.append(pi_hookspecs.ResourceProblem(path=resource.path, message=message, kind=self.kind.name))
        return ResourceSet(
            kind=self.kind.name, resources=tuple(used), shadowed=tuple(shadowed), problems=tuple(problems)
        )


_SOURCE_NAMES = {"cli": "the command line", "sdk": "the program", "settings": "a settings file"}


def _is_unchanged(
    before: tuple[list[ReadFile], list[ResourceProblem]], now: tuple[list[ReadFile], list[ResourceProblem]]
) -> bool:
    return (
        before[1] == now[1]
        and len(before[0]) == len(now[0])
        and all(
            old is new or (old.resource is None and new.resource is None and old.problems == new.problems)
            for old, new in zip(before[0], now[0], strict=True)
        )
    )
