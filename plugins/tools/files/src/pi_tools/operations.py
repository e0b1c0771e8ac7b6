"""The operations of each tool, under the names of this package; ``pi_hookspecs.operations`` defines them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pi_hookspecs.operations import CommandOperations as BashOperations
from pi_hookspecs.operations import (
    EditOperations,
    FindOperations,
    GrepOperations,
    LsOperations,
    ReadOperations,
    WriteOperations,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "BashOperations",
    "EditOperations",
    "FindOperations",
    "GrepOperations",
    "LsOperations",
    "ReadOperations",
    "SpawnContext",
    "WriteOperations",
]


class SpawnContext(NamedTuple):
    """Argument and result of a ``spawn_hook`` of ``bash``."""

    command: str
    cwd: str
    env: Mapping[str, str]
