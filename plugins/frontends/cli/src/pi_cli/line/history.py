"""What was typed before, for the line: the file of ``pi_terminal_kit`` as prompt_toolkit reads a history."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prompt_toolkit.history import History

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pi_terminal_kit.prompt_history import PromptFile

__all__ = ["PromptHistory"]


class PromptHistory(History):
    """What was typed before."""

    def __init__(self, file: PromptFile) -> None:
        super().__init__()
        self._file = file

    def load_history_strings(self) -> Iterable[str]:
        """Return what was typed, the newest first."""
        return reversed(self._file.read())

    def store_string(self, string: str) -> None:
        """Keep what was typed."""
        self._file.append(string)
