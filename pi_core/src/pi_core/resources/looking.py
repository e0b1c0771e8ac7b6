"""One kind of resource in one session: looks at all its places, and answers the same set while nothing changed."""

from __future__ import annotations

import os
from threading import Lock
from typing import TYPE_CHECKING

from attrs import evolve

from pi_core.resources.places import find_places
from pi_core.resources.reading import FileReader
from pi_core.resources.walking import Walk
from pi_hookspecs.resources import ResourceFile, ResourceProblem, ResourceRequest, ResourceSet, Shadowed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pi_core.resources.cache import KeptContents
    from pi_core.resources.places import Place, Situation
    from pi_core.resources.reading import ReadFile
    from pi_hookspecs.resources import Resource, ResourceKind

__all__ = ["KindLoader"]


class KindLoader:
    """Finds and reads the resources of a kind.

    Args:
        kind: What is looked for.
        kept: What earlier starts read.
    """

    def __init__(self, kind: ResourceKind, kept: KeptContents) -> None:
        self.kind = kind
        self._reader = FileReader(kind, kept)
        self._seen: tuple[list[ReadFile], list[ResourceProblem]] = ([], [])
        self.latest = ResourceSet(kind=kind.name)
        self._lock = Lock()

    def is_elsewhere(self, situation: Situation) -> bool:
        """Whether there is nothing to look at: a few questions to the file system, worth no thread."""
        if self.kind.find is not None or self._seen != ([], []):
            return False
        return not any(each.named or os.path.isdir(each.path) for each in find_places(self.kind, situation))

    def look(self, situation: Situation) -> ResourceSet:
        """Return what there is; to be called in a worker thread. The same set while nothing changed."""
        with self._lock:
            problems: list[ResourceProblem] = []
            files = dict.fromkeys(self._files(situation, problems.append))
            read = self._reader.read_all(files)
            if not _same(self._seen, (read, problems)):
                self._seen = read, problems
                self.latest = self._set(read, problems)
            return self.latest

    def _files(self, situation: Situation, complain: Callable[[ResourceProblem], None]) -> Iterator[ResourceFile]:
        if self.kind.find is not None:
            yield from self._found_by_kind(situation, complain)
            return
        walk = Walk(self.kind.accepts, complain, recursive=self.kind.recursive)
        for place in find_places(self.kind, situation):
            for path, base_dir in self._paths(place, walk, complain):
                if place.picks is None or place.picks.keeps(path):
                    yield ResourceFile(path=path, scope=place.scope, source=place.source, base_dir=base_dir)

    def _paths(
        self, place: Place, walk: Walk, complain: Callable[[ResourceProblem], None]
    ) -> Iterator[tuple[str, str]]:
        if os.path.isdir(place.path):
            yield from ((path, place.path) for path in walk.files(place.path))
        elif os.path.exists(place.path) and place.named:
            yield place.path, os.path.dirname(place.path)
        elif place.named:
            message = f"does not exist, though {_WHO.get(place.source, place.source.replace(':', ' '))} names it"
            complain(ResourceProblem(path=place.path, message=message, kind=self.kind.name))

    def _found_by_kind(
        self, situation: Situation, complain: Callable[[ResourceProblem], None]
    ) -> Iterator[ResourceFile]:
        from pathlib import Path

        from pi_core.agent.safe_text import format_exception, safe_repr

        assert self.kind.find is not None  # noqa: S101 - the caller looked
        if situation.only_given:
            return
        request = ResourceRequest(
            cwd=Path(situation.cwd),
            agent_dir=Path(situation.agent_dir),
            project_trusted=situation.project_trusted,
            trust_decided=situation.trust_decided,
        )
        try:
            found: list[object] = list(self.kind.find(request))
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything
            message = f"kind {self.kind.name!r} could not look for its files: {format_exception(error)}"
            complain(ResourceProblem(path=situation.cwd, message=message, kind=self.kind.name, level="error"))
            return
        for file in found:
            if isinstance(file, ResourceFile):
                yield file
            elif isinstance(file, ResourceProblem):
                complain(evolve(file, kind=self.kind.name))
            else:
                message = f"kind {self.kind.name!r} found {safe_repr(file)}, which is no ResourceFile"
                complain(ResourceProblem(path=situation.cwd, message=message, kind=self.kind.name, level="error"))

    def _set(self, read: list[ReadFile], problems: list[ResourceProblem]) -> ResourceSet:
        """Return what was read as a set: each file once, of each name the first."""
        used: list[Resource] = []
        by_name: dict[str, Resource] = {}
        shadowed: list[Shadowed] = []
        problems = list(problems)
        met: set[tuple[int, int]] = set()
        for each in read:
            if each.identity in met and each.identity != (0, 0):  # another link to a file that is there already
                continue
            met.add(each.identity)
            problems += each.problems
            resource = each.resource
            if resource is None:
                continue
            first = by_name.setdefault(resource.name, resource)
            if first is resource or not self.kind.unique:
                used.append(resource)
                continue
            shadowed.append(Shadowed(resource=resource, by=first))
            if self.kind.overrides:
                continue
            message = f"{self.kind.name} {resource.name!r} is there already, from {first.path}, which is used"
            problems.append(ResourceProblem(path=resource.path, message=message, kind=self.kind.name))
        return ResourceSet(
            kind=self.kind.name, resources=tuple(used), shadowed=tuple(shadowed), problems=tuple(problems)
        )


_WHO = {"cli": "the command line", "sdk": "the program", "settings": "a settings file"}


def _same(
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
