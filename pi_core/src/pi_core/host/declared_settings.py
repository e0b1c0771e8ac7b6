"""The settings that plugins declare with ``register_settings``, from the index and from the plugins that are loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_core.settings.declared import DeclaredSetting

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pi_core.host.records import PluginRecord
    from pi_core.host.registry import Registered

__all__ = ["HOOK", "declared_settings"]

HOOK = "register_settings"


def declared_settings(records: Iterable[PluginRecord], registered: Iterable[Registered]) -> tuple[DeclaredSetting, ...]:
    """Return the declarations of all plugins, those of the index first.

    Disabled plugins count as well, so that what disables a plugin does not change the rules of its settings. Of several
    declarations of one name, the first decides what a project may do: no plugin can loosen the rule of another one's
    setting.
    """
    found: dict[tuple[str, str], DeclaredSetting] = {}
    for record in records:
        for each in record.registers.get(HOOK, ()):
            may = each["project_may"]
            found[each["name"], record.name] = DeclaredSetting(
                name=each["name"],
                schema=each["schema"],
                description=each["description"],
                may=tuple(may) if isinstance(may, list) else may,
                protected=each["protected"],
                plugin=record.name,
                variable=each["variable"],
            )
    for one in registered:
        thing = one.thing
        found[one.name, one.plugin] = DeclaredSetting(
            one.name, thing.schema, thing.description, thing.project_may, thing.protected, one.plugin, thing.variable
        )
    return tuple(found.values())
