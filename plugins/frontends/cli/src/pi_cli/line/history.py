"""The input history: the file of ``pi_terminal_kit``, adapted to prompt_toolkit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prompt_toolkit.history import History

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pi_terminal_kit.prompt_history import PromptFile

__all__ = ["PromptHistory"]


class PromptHistory(History):
    """Previous input."""

    def __init__(self, file: PromptFile) -> None:
        super().__init__()
        self._file = file

    def load_history_strings(self) -> Iterable[str]:
        """Return previous input, newest first."""
        return reversed(self._file.read())

    def store_string(self, string: str) -> None:
        """Store an input."""
        self._file.append(string)
