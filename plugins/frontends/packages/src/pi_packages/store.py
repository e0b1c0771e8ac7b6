"""Generations: complete folders of installed packages; one small file names the active one.

However a change ends, either the old or the new state is complete. A change is written in this order: folder,
description, ``pending.json``, ``current``. Lock file and settings are then written from ``pending.json``, which is
removed last; the next command finishes what a killed one has left undone.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from pi_core import replace_file
from pi_core.host.overlay import current_generation, describe_generation
from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

__all__ = ["FORMAT", "Description", "Store", "remove_old_runs"]

FORMAT = 1
KEPT = 3
"""Number of generations that are kept besides the active one."""
_WAIT_SECONDS = 600.0
_RUN_DAYS = 30

Description = dict[str, Any]


class Store:
    """The generations of one scope.

    Args:
        root: The folder, see ``pi_core.host.overlay``.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._generations = root / "gen"
        self._pending = root / "pending.json"

    @contextmanager
    def locked(self, say: Callable[[str], object]) -> Iterator[None]:
        """Lock the scope against other processes; ``say`` is called if the lock has to be waited for.

        Raises:
            UserError: The folder cannot be written, or another process keeps the lock.
        """
        from filelock import FileLock, Timeout

        try:
            self._generations.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self.root / ".lock")
            try:
                lock.acquire(timeout=0)
            except Timeout:
                say("Waiting for another pi that is installing packages")
                lock.acquire(timeout=_WAIT_SECONDS)
        except Timeout:
            raise UserError(f"another pi has been installing packages for {_WAIT_SECONDS:g} s ({self.root})") from None
        except OSError as error:
            raise UserError(f"packages cannot be stored in {self.root}: {error.strerror}") from error
        try:
            yield
        finally:
            lock.release()

    def current(self) -> Description:
        """Return the description of the active generation; empty if there is none."""
        return self.describe(current_generation(self.root))

    def describe(self, name: str | None) -> Description:
        """Return the description of a generation.

        Raises:
            UserError: A newer pi wrote it.
        """
        described = describe_generation(self.root, name)
        if described.get("format", FORMAT) > FORMAT:
            raise UserError(f"a newer pi has installed packages in {self.root}: its format is {described['format']!r}")
        return described

    def folder(self, name: str) -> Path:
        """Return the import folder of a generation."""
        return self._generations / name

    def history(self) -> list[Description]:
        """Return the existing generations, newest first."""
        names = sorted((file.stem for file in self._generations.glob("*.json")), reverse=True)
        return [described for name in names if (described := self.describe(name)) and self.folder(name).is_dir()]

    @contextmanager
    def draft(self) -> Iterator[Path]:
        """Provide a new folder; it is removed afterwards unless it was published."""
        folder = self._generations / f".draft-{os.getpid()}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def publish(
        self, draft: Path, described: Description, pending: dict[str, Any], finish: Callable[[Any], None]
    ) -> str:
        """Make a draft the active generation, and return its name.

        Args:
            draft: The folder.
            described: Its description.
            pending: The work that remains after activation.
            finish: Does that work; may be called again after a kill.
        """
        name = f"{time.time_ns():x}"
        described = {"format": FORMAT, "id": name, **described}
        with suppress(FileNotFoundError):
            (draft / ".lock").unlink()  # of uv
        self._write(self._generations / f"{name}.json", described)
        draft.rename(self.folder(name))
        self.put_in_force(name, pending, finish)
        return name

    def put_in_force(self, name: str, pending: dict[str, Any], finish: Callable[[Any], None]) -> None:
        """Activate a generation, and do the remaining work."""
        self._write(self._pending, {**pending, "generation": name})
        replace_file(self.root / "current", f"{name}\n".encode())
        self.recover(finish)
        self._prune()

    def recover(self, finish: Callable[[Any], None]) -> None:
        """Finish the work of an interrupted change; requires the lock."""
        try:
            pending = json.loads(self._pending.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return
        except ValueError:
            pending = {}
        if pending.get("generation") and pending["generation"] == current_generation(self.root):
            finish(pending)
        self._pending.unlink()

    # Inside

    def _prune(self) -> None:
        """Remove drafts of processes that died, and old generations that no process holds."""
        in_force = current_generation(self.root)
        names = sorted({entry.name.partition(".")[0] for entry in self._generations.iterdir()} - {""}, reverse=True)
        for name in [each for each in names if each != in_force][KEPT:]:
            file = self._generations / f"{name}.json"
            if _is_held(file):
                continue
            shutil.rmtree(self.folder(name), ignore_errors=True)
            if not self.folder(name).exists():
                file.unlink(missing_ok=True)
        for entry in self._generations.glob(".*"):
            if entry.name != f".draft-{os.getpid()}":
                shutil.rmtree(entry, ignore_errors=True) if entry.is_dir() else entry.unlink(missing_ok=True)

    def _write(self, file: Path, value: Any) -> None:
        replace_file(file, json.dumps(value, indent=1, ensure_ascii=False).encode())


def _is_held(file: Path) -> bool:
    """Whether a running process has joined a generation."""
    try:
        import fcntl

        with file.open("rb") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except (ImportError, OSError):
        return False
    return False


def remove_old_runs(agent_dir: Path) -> None:
    """Remove packages that ``-e`` installed and no run has used for thirty days."""
    for current in (agent_dir / "packages" / "runs").glob("*/*/current"):
        with suppress(OSError):
            if time.time() - current.stat().st_mtime > _RUN_DAYS * 86_400:
                shutil.rmtree(current.parent.parent, ignore_errors=True)
