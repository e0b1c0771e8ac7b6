"""Lists and undoes the decisions of the user that plugins remember."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from attrs import evolve

from pi_core.hooks.acting import acting
from pi_core.hooks.containment import reported
from pi_hookspecs import Permission, PermissionPlace, PiError, PluginError, UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from pi_core.host import PluginHost
    from pi_core.settings.settings import Settings
    from pi_hookspecs import ChangeableSettings

    Report = Callable[[str, str, str, str | None], None]

__all__ = ["FileSettings", "Permissions"]

_HOOK = "register_permissions"


class Permissions:
    """The decisions that all plugins remember, at one place.

    Args:
        host: The plugins; those that register permissions are loaded.
        cwd: The working directory.
        settings: The settings, to read and to change.
        session_id: The session, if there is one.
        report: Called with plugin, step, message and traceback if a plugin fails.
    """

    def __init__(
        self, host: PluginHost, cwd: Path, settings: ChangeableSettings, session_id: str | None, report: Report
    ) -> None:
        self._host = host
        self._place = PermissionPlace(cwd=cwd, settings=settings, session_id=session_id)
        self._report = report

    def all(self) -> list[Permission]:
        """Return the decisions, by the names of their stores; a store that cannot be read is reported and left out."""
        found: list[Permission] = []
        for name, each in sorted(self._host.find_all(_HOOK).items()):
            with acting(each.plugin), reported(self._report, each.plugin, _HOOK, f"to list {name!r}"):
                try:
                    found += [evolve(permission, store=name) for permission in each.thing.list(self._place)]
                except PiError as error:
                    self._report(each.plugin, _HOOK, f"{name}: {error}", None)
        return found

    async def remove(self, permission: Permission) -> None:
        """Undo a decision.

        Raises:
            UserError: Its store does not exist any more, or it cannot be undone.
            PluginError: The plugin failed.
        """
        each = self._host.find_all(_HOOK).get(permission.store)
        if each is None:
            raise UserError(f"No plugin has a permission store {permission.store!r}; ctx.list_permissions names them.")
        if not permission.removable:
            raise UserError(f"{permission.what!r} cannot be undone here: {permission.place or permission.store}.")
        done = False
        with (
            acting(each.plugin),
            reported(self._report, each.plugin, _HOOK, f"to undo {permission.what!r}", passing=PiError),
        ):
            await each.thing.remove(permission, self._place)
            done = True
        if not done:
            raise PluginError(each.plugin, f"Plugin {each.plugin!r} could not undo {permission.what!r}")


class FileSettings:
    """Implements ``ChangeableSettings`` without a session, for the user's own commands.

    Args:
        settings: The settings; reading methods are theirs.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def __getattr__(self, name: str) -> Any:
        return getattr(self._settings, name)

    async def set(self, key: str | Sequence[str], value: Any, *, scope: Literal["user", "project"] = "user") -> bool:
        """Write a setting; return whether it is in force."""
        self._settings.set(key, value, "global" if scope == "user" else "project")
        return bool(self._settings.get(key) == value)
