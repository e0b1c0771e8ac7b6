"""Changes of pi's files that add to them and never replace what is there."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from attrs import frozen

from pi_core import change_text
from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pi_core import Settings
    from pi_import.steps import State

__all__ = ["Entry", "ListItems", "NewFile", "Setting", "TextBlock", "file_text"]


@frozen
class NewFile:
    """A file with this text.

    Attributes:
        file: The file.
        text: Its whole text.
    """

    file: Path
    text: str

    @property
    def target(self) -> str:
        """The file."""
        return str(self.file)

    def state(self) -> State:
        """Compare the file with the text."""
        found = file_text(self.file)
        return "free" if found is None else "same" if found == self.text else "other"

    def apply(self) -> None:
        """Create the file; one that was created meanwhile is kept."""
        change_text(self.file, lambda text: self.text if text is None else None, folder_mode=0o700, file_mode=0o600)


@frozen
class TextBlock:
    """A block in a file of instructions, between two comments that name its source.

    Attributes:
        file: The file; what else is in it stays.
        name: The source, which marks the block.
        text: The text of the block.
    """

    file: Path
    name: str
    text: str

    @property
    def target(self) -> str:
        """The file."""
        return str(self.file)

    @property
    def _begin(self) -> str:
        return f"<!-- from {self.name}, by pi import -->"

    @property
    def _block(self) -> str:
        return f"{self._begin}\n\n{self.text.strip()}\n\n<!-- end of {self.name} -->\n"

    def state(self) -> State:
        """Look for the block."""
        found = file_text(self.file) or ""
        return "same" if self._block in found else "other" if self._begin in found else "free"

    def apply(self) -> None:
        """Append the block."""

        def added(text: str | None) -> str | None:
            if text and self._begin in text:
                return None
            return f"{text.rstrip()}\n\n{self._block}" if text and text.strip() else self._block

        change_text(self.file, added, folder_mode=0o700, file_mode=0o600)


@frozen
class Entry:
    """An entry in an object of a JSON file.

    Attributes:
        file: The file.
        path: The keys to the entry; the objects on the way are created.
        value: The entry.
    """

    file: Path
    path: tuple[str, ...]
    value: Any

    @property
    def target(self) -> str:
        """The entry and its file."""
        return f"{'.'.join(self.path)} in {self.file}"

    def state(self) -> State:
        """Compare the entry with the value."""
        holder, last = _holder(self.file, self.path), self.path[-1]
        if holder is None:
            return "other"
        return "free" if last not in holder else "same" if holder[last] == self.value else "other"

    def apply(self) -> None:
        """Add the entry."""

        def edit(values: dict[str, Any]) -> None:
            _make_holder(values, self.path).setdefault(self.path[-1], self.value)

        _edit_json(self.file, edit)


@frozen
class ListItems:
    """Items at the end of a list in a JSON file.

    Attributes:
        file: The file.
        path: The keys to the list, which is created if it does not exist.
        items: The items; those that are in the list already are not added again.
    """

    file: Path
    path: tuple[str, ...]
    items: Sequence[Any]

    @property
    def target(self) -> str:
        """The list and its file."""
        return f"{'.'.join(self.path)} in {self.file}"

    def state(self) -> State:
        """Look for the items."""
        holder = _holder(self.file, self.path)
        found = None if holder is None else holder.get(self.path[-1], [])
        if not isinstance(found, list):
            return "other"
        return "same" if all(item in found for item in self.items) else "free"

    def apply(self) -> None:
        """Append the missing items."""

        def edit(values: dict[str, Any]) -> None:
            found = _make_holder(values, self.path).setdefault(self.path[-1], [])
            found.extend(item for item in self.items if item not in found)

        _edit_json(self.file, edit)


@frozen
class Setting:
    """A setting in the user's file, or in the project's.

    Attributes:
        settings: All settings.
        scope: Whose file.
        file: That file.
        key: The setting.
        value: Its value; a list is added to the existing one.
    """

    settings: Settings
    scope: Any
    file: Path
    key: str
    value: Any

    @property
    def target(self) -> str:
        """The setting and its file."""
        return f"setting {self.key} in {self.file}"

    def state(self) -> State:
        """Compare the setting in this file with the value."""
        found = self._found()
        if isinstance(self.value, list) and isinstance(found, list | None):
            return "same" if all(item in (found or ()) for item in self.value) else "free"
        return "free" if found is None else "same" if found == self.value else "other"

    def apply(self) -> None:
        """Write the setting."""
        found = self._found()
        if isinstance(self.value, list):
            found = found or []
            added = [item for item in self.value if item not in found]
            self.settings.set(self.key, self.with_items(found, added), self.scope)
        elif found is None:
            self.settings.set(self.key, self.value, self.scope)

    def with_items(self, found: list[Any], added: list[Any]) -> list[Any]:
        """Return a list with further items, which go to its end."""
        return [*found, *added]

    def _found(self) -> Any:
        """Return the value in this file alone: a project's list does not repeat the user's."""
        found: Any = _object(file_text(self.file), self.file)
        for key in self.key.split("."):
            found = found.get(key) if isinstance(found, dict) else None
        return found


def file_text(file: Path) -> str | None:
    """Return the text of one of pi's files; None if there is none.

    Raises:
        UserError: It cannot be read.
    """
    try:
        return file.read_text(encoding="utf-8-sig") if file.is_file() else None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{file} cannot be read: {error}. Nothing was changed") from error


def _holder(file: Path, path: Sequence[str]) -> dict[str, Any] | None:
    """Return the object of a JSON file that has the last key, or would have it; None if something else is there."""
    found: Any = _object(file_text(file), file)
    for key in path[:-1]:
        found = found.get(key, {})
        if not isinstance(found, dict):
            return None
    return found  # type: ignore[no-any-return] # an object


def _make_holder(values: dict[str, Any], path: Sequence[str]) -> dict[str, Any]:
    """Return the object for the last key, and create the objects on the way."""
    for key in path[:-1]:
        values = values.setdefault(key, {})
    return values


def _object(text: str | None, file: Path) -> dict[str, Any]:
    try:
        values = json.loads(text) if text and text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise UserError(f"{file} is not plain JSON ({error}), so nothing is added to it") from error
    if not isinstance(values, dict):
        raise UserError(f"{file} must contain a JSON object; nothing is added to it")
    return values


def _edit_json(file: Path, edit: Any) -> None:
    def changed(text: str | None) -> str:
        values = _object(text, file)
        try:
            edit(values)
        except (AttributeError, TypeError) as error:
            raise UserError(f"{file} has an unexpected format; nothing was added to it") from error
        return json.dumps(values, indent=2, ensure_ascii=False) + "\n"

    change_text(file, changed, folder_mode=0o700, file_mode=0o600)
