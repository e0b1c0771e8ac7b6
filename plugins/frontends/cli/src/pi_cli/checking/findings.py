"""A finding of a check: its part, level, message, and place in a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from attrs import frozen

from pi_hookspecs.values import ReprMixin

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["PARTS", "Finding", "Level"]

Level = Literal["error", "warning", "note"]

PARTS = ("metadata", "static", "import", "contract", "tests")
"""The parts of a check, in order."""


@frozen(eq=False, repr=False)
class Finding(ReprMixin):
    """One finding.

    Attributes:
        level: An ``error`` fails the check, a ``warning`` only with ``--strict``, a ``note`` never does.
    """

    part: str
    level: Level
    message: str
    file: Path | None = None
    line: int | None = None

    @property
    def place(self) -> str:
        """File and line, such as ``src/pi_tides/__init__.py:12``; empty without a file."""
        if self.file is None:
            return ""
        return f"{self.file}:{self.line}" if self.line is not None else str(self.file)

    def to_plain(self) -> dict[str, Any]:
        """Return the finding in the form of ``--json``."""
        file = str(self.file) if self.file is not None else None
        return {"part": self.part, "level": self.level, "message": self.message, "file": file, "line": self.line}
