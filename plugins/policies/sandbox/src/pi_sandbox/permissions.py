"""Folders that the user has opened to the sandbox, as remembered decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import Permission, UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import PermissionPlace

__all__ = ["WritableFolders", "add_folder"]

_WRITE = "sandbox.write"


class WritableFolders:
    """Implements ``PermissionStore`` for ``sandbox.write`` in the user's settings, and for folders of one session."""

    name = "Folders that the sandbox lets programs change"

    def list(self, place: PermissionPlace) -> Sequence[Permission]:
        """Return the folders; those of a session are open until it ends."""
        found = [Permission(each, what=each, place=place.settings_file) for each in _own_folders(place)]
        if place.session_id is not None:
            from pi_sandbox.state import open_sandbox

            sandbox = open_sandbox(place.session_id)
            granted = sandbox.granted if sandbox is not None else ()
            found += [Permission(each, what=each, place="until this session ends", removable=False) for each in granted]
        return found

    async def remove(self, permission: Permission, place: PermissionPlace) -> None:
        """Remove a folder from the user's settings.

        Raises:
            UserError: It is not there any more.
        """
        folders = _own_folders(place)
        if permission.key not in folders:
            raise UserError(f"{permission.key} is no longer in {_WRITE} of your settings.")
        await place.settings.set(_WRITE, [each for each in folders if each != permission.key])


async def add_folder(folder: str, place: PermissionPlace) -> None:
    """Add a folder to ``sandbox.write`` in the user's own settings.

    Raises:
        UserError: The settings file cannot be written.
    """
    folders = _own_folders(place)
    if folder not in folders:
        await place.settings.set(_WRITE, [*folders, folder])


def _own_folders(place: PermissionPlace) -> list[str]:
    return [each for each in place.own_list(_WRITE) if isinstance(each, str)]
