"""What a project may do to the settings that plugins declare, from the index and from the plugins that are loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_core.settings.project_limits import ProjectRule
from pi_core.settings.values import steps_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pi_core.host.records import PluginRecord
    from pi_core.host.registry import Registered

__all__ = ["setting_rules"]

HOOK = "register_settings"


def setting_rules(
    records: Iterable[PluginRecord], registered: Iterable[Registered]
) -> dict[tuple[str, ...], ProjectRule]:
    """Return the rule of each declared setting by the steps of its name.

    Disabled plugins count as well, so that what disables a plugin does not change the rules of its settings. Of several
    declarations of one name, the first counts: no plugin can loosen the rule of another one's setting.
    """
    rules: dict[tuple[str, ...], ProjectRule] = {}
    for record in records:
        for described in record.registers.get(HOOK, ()):
            rules.setdefault(*_rule(described["name"], described["project_may"], described["default"], record.name))
    for each in registered:
        rules.setdefault(*_rule(each.name, each.thing.project_may, each.thing.default, each.plugin))
    return rules


def _rule(name: str, may: Any, default: Any, owner: str) -> tuple[tuple[str, ...], ProjectRule]:
    return steps_of(name), ProjectRule(tuple(may) if isinstance(may, list) else may, default, owner=owner)
