"""Where images are written: into new files below the working directory, and nowhere else.

The path comes from a model that may follow instructions of a web page, so that it cannot name a file that exists, a
hidden folder, another kind of file, or a link that leads out of the working directory.
"""

from __future__ import annotations

import asyncio
import base64
import errno
import os
import re
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pi_hookspecs import ImageContent, UserError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_hookspecs import ToolContext

__all__ = ["ImageFiles"]

_SUFFIXES = {"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp"}
_TYPES = {**{suffix: mime_type for mime_type, suffix in _SUFFIXES.items()}, ".jpeg": "image/jpeg"}
_FOLDER = "images"
_LONGEST_NAME = 40
_MOST_READ = 20 * 1024 * 1024
"""Maximum bytes of an image to start from."""

_MOST_NAMES = 1000


class ImageFiles:
    """Reads and writes the images of one call.

    Args:
        ctx: The call's context; its redirected files are used, if there are any.
    """

    def __init__(self, ctx: ToolContext) -> None:
        self._cwd = Path(ctx.cwd)
        self._operations = ctx.file_operations()

    async def check(self, path: str | None) -> None:
        """Check the file that is to be written, before an image is paid for.

        Raises:
            UserError: The path cannot be used.
        """
        if path is None:
            return
        try:
            await self._check_free(self._file(path, ""))
        except FileExistsError:
            raise UserError(f"{path} exists; choose a name that does not") from None
        except OSError as error:
            raise UserError(f"{path} cannot be written: {error.strerror or error}") from error

    async def read(self, path: str) -> ImageContent:
        """Return an image to start from.

        Raises:
            UserError: It cannot be read, or is not an image.
        """
        file = self._cwd / path
        mime_type = _TYPES.get(file.suffix.lower())
        if mime_type is None:
            raise UserError(f"{path} is not an image: its name must end in one of {', '.join(_TYPES)}")
        try:
            if self._operations is not None:
                content = await self._operations.read_file(os.fspath(file))
            elif file.stat().st_size > _MOST_READ:
                raise UserError(f"{path} is larger than {_MOST_READ // 2**20} MB; use a smaller image")
            else:
                content = await asyncio.to_thread(file.read_bytes)
        except OSError as error:
            raise UserError(f"{path} cannot be read: {error.strerror or error}") from error
        return ImageContent(base64.b64encode(content).decode(), mime_type)

    async def write(self, content: bytes, mime_type: str, prompt: str, path: str | None) -> str:
        """Write an image into a new file, and return its path relative to the working directory.

        A name that is taken meanwhile, or with the suffix of the image's type, gets a number: the image is paid for.

        Args:
            content: The image.
            mime_type: Its type, which decides the suffix.
            prompt: What was drawn, for a name where there is no path.
            path: The file.

        Raises:
            UserError: It cannot be written.
        """
        suffix = _SUFFIXES[mime_type]
        first = path if path is not None else _name(prompt)
        for name in _numbered(first):
            try:
                file = self._file(name, suffix)
                await self._check_free(file)
                await self._write_new(file, content)
            except FileExistsError:
                continue
            except OSError as error:
                raise UserError(f"{name} cannot be written: {error.strerror or error}") from error
            else:
                return file.relative_to(self._cwd).as_posix()
        raise UserError(f"{first} exists, as do its numbered variants up to {_MOST_NAMES}; give another path")

    async def keep(self, content: bytes, mime_type: str) -> str:
        """Write an image that could not be written where it belongs to a temporary file, and return its path.

        The file is on this machine even if the call's files are on another one.

        Raises:
            UserError: It cannot be written there either.
        """

        def write() -> str:
            descriptor, path = tempfile.mkstemp(prefix="pi-image-", suffix=_SUFFIXES[mime_type])
            with os.fdopen(descriptor, "wb") as opened, _removed_if_incomplete(path):
                opened.write(content)
                opened.flush()
            return path

        try:
            return await asyncio.to_thread(write)
        except OSError as error:
            raise UserError(f"a temporary file cannot be written: {error.strerror or error}") from error

    async def _write_new(self, file: Path, content: bytes) -> None:
        if self._operations is not None:
            await self._operations.mkdir(os.fspath(file.parent))
            await self._operations.write_file(os.fspath(file), content)
            return
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
        except FileExistsError:  # another name in the folder would not help
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)) from None
        self._check_parent(file)

        def write() -> None:
            with file.open("xb") as opened, _removed_if_incomplete(file):
                opened.write(content)
                opened.flush()

        await asyncio.to_thread(write)

    def _file(self, path: str, suffix: str) -> Path:
        """Return the absolute path of a file that may be written; its suffix becomes that of the image's type.

        Raises:
            UserError: It may not.
        """
        if "\0" in path or not path.strip():
            raise UserError(f"{path!r} is not the path of a file")
        written = Path(os.path.normpath(self._cwd / path))
        if written.suffix and written.suffix.lower() not in _TYPES:
            raise UserError(f"{path} is not the name of an image: use one that ends in {', '.join(_TYPES)}")
        has_suffix = not suffix or _TYPES.get(written.suffix.lower()) == _TYPES[suffix]
        file = written if has_suffix else written.with_suffix(suffix)
        if not file.is_relative_to(self._cwd) or file == self._cwd:
            raise UserError(f"{path} is outside the working directory; images are written below it")
        if any(part.startswith(".") for part in file.relative_to(self._cwd).parts):
            raise UserError(f"{path} is in a hidden folder, or a hidden file; choose another one")
        return file

    async def _check_free(self, file: Path) -> None:
        """Check that a file can be made there.

        Raises:
            UserError: It would be outside the working directory.
            FileExistsError: It exists.
        """
        if self._operations is not None:
            exists = await self._operations.exists(os.fspath(file))
        else:
            exists = self._exists_here(file)
        if exists:
            raise FileExistsError

    def _exists_here(self, file: Path) -> bool:
        self._check_parent(file)
        return os.path.lexists(file)

    def _check_parent(self, file: Path) -> None:
        """Check that no link on the way leads out of the working directory."""
        parent = next(each for each in file.parents if each.exists())
        if not parent.resolve().is_relative_to(self._cwd.resolve()):
            raise UserError(f"{file} is outside the working directory, behind a link; choose another folder")


@contextmanager
def _removed_if_incomplete(file: str | os.PathLike[str]) -> Iterator[None]:
    """Remove a new file if the block fails, as on a full disk."""
    try:
        yield
    except OSError:
        with suppress(OSError):
            Path(file).unlink()
        raise


def _name(prompt: str) -> str:
    words = re.sub(r"[^a-z0-9]+", "-", prompt.lower())[:_LONGEST_NAME].strip("-") or "image"
    return f"{_FOLDER}/{words}"


def _numbered(name: str) -> Iterator[str]:
    """Yield a name, and then the same with numbers from 2 on."""
    yield name
    stem, suffix = os.path.splitext(name)  # noqa: PTH122 - keeps the rest of the path as it is written
    for number in range(2, _MOST_NAMES + 1):
        yield f"{stem}-{number}{suffix}"
