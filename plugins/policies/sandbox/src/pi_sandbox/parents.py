"""Opens the folder of a file from the root on without following a link, and so never leads out of it."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Self

__all__ = ["ParentFolder"]

_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


class ParentFolder:
    """The folder of a file.

    Args:
        path: The file, absolute; a link among its folders is an error.
        make: Whether to make missing folders.

    Attributes:
        descriptor: That of the folder.
        name: The file's name in it.

    Raises:
        OSError: The folder does not exist, or a link leads to it.
    """

    def __init__(self, path: str, *, make: bool = False) -> None:
        folder, self.name = os.path.split(path)
        self.descriptor = os.open("/", _FOLDER)
        try:
            for name in filter(None, folder.split("/")):
                self._descend(name, make=make)
        except BaseException:
            self.close()
            raise

    def _descend(self, name: str, *, make: bool) -> None:
        if make:
            with suppress(FileExistsError):
                os.mkdir(name, dir_fd=self.descriptor)
        below = os.open(name, _FOLDER, dir_fd=self.descriptor)
        os.close(self.descriptor)
        self.descriptor = below

    def close(self) -> None:
        """Close the folder."""
        os.close(self.descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
