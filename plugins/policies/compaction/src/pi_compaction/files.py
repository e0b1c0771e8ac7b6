"""Lists of the files that a conversation read and changed, appended to every summary and carried over to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs import AssistantMessage, BranchSummaryEntry, CompactionEntry

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pi_hookspecs import AgentMessage, SessionEntry

__all__ = ["FileLists"]

_CHANGES = frozenset({"write", "edit"})


class FileLists:
    """Paths from calls of the tools ``read``, ``write`` and ``edit``."""

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._changed: set[str] = set()

    @property
    def read(self) -> list[str]:
        """Files that were read and not changed, sorted."""
        return sorted(self._seen - self._changed)

    @property
    def modified(self) -> list[str]:
        """Files that were written or edited, sorted."""
        return sorted(self._changed)

    def add_calls(self, messages: Iterable[AgentMessage | None]) -> None:
        """Add the files of the calls that answers made."""
        for message in messages:
            if isinstance(message, AssistantMessage):
                for call in message.tool_calls:
                    path = call.arguments.get("path")
                    if isinstance(path, str) and path and (call.name == "read" or call.name in _CHANGES):
                        (self._seen if call.name == "read" else self._changed).add(path)

    def add_summary(self, entry: SessionEntry | None) -> None:
        """Add the files of a previous summary of pi; the format of a plugin's summary is not known."""
        if isinstance(entry, CompactionEntry | BranchSummaryEntry) and not entry.from_hook:
            self.add_details(entry.details)

    def add_details(self, details: Any) -> None:
        """Add the files of an entry's ``details``."""
        if isinstance(details, dict):
            self._seen.update(_paths(details.get("readFiles")))
            self._changed.update(_paths(details.get("modifiedFiles")))

    def details(self) -> dict[str, Any]:
        """Return the lists for the entry's details."""
        return {"readFiles": self.read, "modifiedFiles": self.modified}

    def text(self) -> str:
        """Return the text of the lists for the end of the summary; empty without files."""
        return _block("read-files", self.read) + _block("modified-files", self.modified)


def _block(tag: str, paths: list[str]) -> str:
    return f"\n\n<{tag}>\n" + "\n".join(paths) + f"\n</{tag}>" if paths else ""


def _paths(value: Any) -> list[str]:
    return [path for path in value if isinstance(path, str)] if isinstance(value, list | tuple) else []
