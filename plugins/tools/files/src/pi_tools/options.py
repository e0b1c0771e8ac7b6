"""What the tool factories are given: options, which the settings replace where they are missing, and operations."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from attrs import frozen

from pi_hookspecs.operations import CommandOperations as BashOperations
from pi_hookspecs.operations import (
    EditOperations,
    FindOperations,
    GrepOperations,
    LsOperations,
    ReadOperations,
    WriteOperations,
)
from pi_hookspecs.values import Value

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = [
    "BashOperations",
    "BashOptions",
    "EditOperations",
    "EditOptions",
    "FindOperations",
    "FindOptions",
    "GrepOperations",
    "GrepOptions",
    "LsOperations",
    "LsOptions",
    "ReadOperations",
    "ReadOptions",
    "SpawnContext",
    "ToolsOptions",
    "WriteOperations",
    "WriteOptions",
]


@frozen(kw_only=True, eq=False, repr=False)
class ReadOptions(Value):
    """For ``read``.

    Attributes:
        operations: Where files are; None is this machine.
        auto_resize_images: Shrink images to 2000x2000 and 4.5 MB; setting ``images.autoResize``, else True.
    """

    operations: ReadOperations | None = None
    auto_resize_images: bool | None = None


@frozen(kw_only=True, eq=False, repr=False)
class WriteOptions(Value):
    """For ``write``: where files are; None is this machine."""

    operations: WriteOperations | None = None


@frozen(kw_only=True, eq=False, repr=False)
class EditOptions(Value):
    """For ``edit``: where files are; None is this machine."""

    operations: EditOperations | None = None


@frozen(kw_only=True, eq=False, repr=False)
class BashOptions(Value):
    """For ``bash``.

    Attributes:
        operations: Where commands run; None is this machine.
        command_prefix: Put before every command, on a line of its own; setting ``shellCommandPrefix``.
        shell_path: The shell; setting ``shellPath``, else bash.
        spawn_hook: Returns changed command, directory and environment.
        keep_background: How to treat processes that a command leaves running when it succeeds. None: they
            live as long as the session; True: they are never ended; False: they end with the command.
            Setting ``bash.keepBackground``.
        max_output_file_bytes: Size at which the file with the full output stops growing; setting
            ``bash.maxOutputFileBytes``, else 1 GiB.
    """

    operations: BashOperations | None = None
    command_prefix: str | None = None
    shell_path: str | None = None
    spawn_hook: Callable[[SpawnContext], SpawnContext] | None = None
    keep_background: bool | None = None
    max_output_file_bytes: int | None = None


@frozen(kw_only=True, eq=False, repr=False)
class GrepOptions(Value):
    """For ``grep``: where the search runs; None is this machine."""

    operations: GrepOperations | None = None


@frozen(kw_only=True, eq=False, repr=False)
class FindOptions(Value):
    """For ``find``: where the search runs; None is this machine."""

    operations: FindOperations | None = None


@frozen(kw_only=True, eq=False, repr=False)
class LsOptions(Value):
    """For ``ls``: where directories are; None is this machine."""

    operations: LsOperations | None = None


@frozen(kw_only=True, eq=False, repr=False)
class ToolsOptions(Value):
    """For the factories that make several tools: the options of each, by its name."""

    read: ReadOptions | None = None
    bash: BashOptions | None = None
    edit: EditOptions | None = None
    write: WriteOptions | None = None
    grep: GrepOptions | None = None
    find: FindOptions | None = None
    ls: LsOptions | None = None


class SpawnContext(NamedTuple):
    """Argument and result of a ``spawn_hook`` of ``bash``."""

    command: str
    cwd: str
    env: Mapping[str, str]
