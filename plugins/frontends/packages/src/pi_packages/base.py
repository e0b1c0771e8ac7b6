"""Base: the environment that pi runs in. It is never changed; solvers get all of it as pinned constraints.

A solver must neither replace nor fetch the distributions of base: pi's own may come from a place that no index knows.
So for each of them there is a stub, a wheel with metadata only, in a folder that solvers search.
"""

from __future__ import annotations

import os
import sys
import zipfile
from functools import cached_property
from hashlib import sha256
from importlib.machinery import PathFinder
from importlib.metadata import Distribution, distributions
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from pi_core.host.overlay import joined_generations, read_pth

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Base"]

_WHEEL = "Wheel-Version: 1.0\nGenerator: pi\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


class Base:
    """The distributions that pi can import without any overlay.

    Args:
        agent_dir: The agent directory, whose folders on the import path do not belong to base.
    """

    def __init__(self, agent_dir: Path) -> None:
        self._agent_dir = os.path.join(agent_dir, "")  # noqa: PTH118 - compared with entries of sys.path

    @cached_property
    def paths(self) -> list[str]:
        """The entries of the import path that belong to base."""
        added = {path for folder in joined_generations() for path in read_pth(folder)[0]}
        return [each for each in sys.path if each not in added and not each.startswith(self._agent_dir)]

    @cached_property
    def distributions(self) -> dict[str, Distribution]:
        """The distributions by canonical name; of two with the same name, the first on the path."""
        found: dict[str, Distribution] = {}
        for each in distributions(path=self.paths):
            name, version = each.metadata["Name"], each.version
            if name and version and _is_version(version):
                found.setdefault(canonicalize_name(name), each)
        return found

    @cached_property
    def versions(self) -> dict[str, str]:
        """The versions by canonical name."""
        return {name: each.version for name, each in sorted(self.distributions.items())}

    def origin_of(self, module: str) -> str | None:
        """Return the location of a top-level module in base, which precedes all others; None if it is not there."""
        spec = PathFinder.find_spec(module, self.paths)
        return None if spec is None else spec.origin or next(iter(spec.submodule_search_locations or ()), module)

    def constraints(self) -> str:
        """Return base as a file of constraints."""
        return "".join(f"{name}=={version}\n" for name, version in self.versions.items())

    def stubs(self, folder: Path) -> Path:
        """Return the folder of stubs, written below ``folder`` if base has changed since."""
        key = sha256(self.constraints().encode()).hexdigest()[:16]
        stubs = folder / key
        if stubs.is_dir():
            return stubs
        draft = folder / f".{key}-{os.getpid()}"
        draft.mkdir(parents=True, exist_ok=True)
        for name, each in self.distributions.items():
            stem = f"{name.replace('-', '_')}-{each.version}"
            with zipfile.ZipFile(draft / f"{stem}-py3-none-any.whl", "w") as wheel:
                wheel.writestr(f"{stem}.dist-info/METADATA", _metadata_text(each, name))
                wheel.writestr(f"{stem}.dist-info/WHEEL", _WHEEL)
                wheel.writestr(f"{stem}.dist-info/RECORD", "")
        try:
            draft.rename(stubs)
        except OSError:  # another process was faster
            if not stubs.is_dir():
                raise
        return stubs


def _metadata_text(each: Distribution, name: str) -> str:
    text = each.read_text("METADATA") or each.read_text("PKG-INFO")
    return text or f"Metadata-Version: 2.1\nName: {name}\nVersion: {each.version}\n"


def _is_version(text: str) -> bool:
    try:
        Version(text)
    except InvalidVersion:
        return False
    return True
