"""The user's own rules as remembered decisions: added by "always", listed and removed with ``/permissions``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pi_hookspecs import Permission, UserError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pi_hookspecs import PermissionPlace

__all__ = ["GuardRules", "add_rules"]

_RULES = "guardrails.rules"


class GuardRules:
    """Implements ``PermissionStore`` for ``guardrails.rules`` in every file that sets them."""

    name = "Guard rules"

    def list(self, place: PermissionPlace) -> Sequence[Permission]:
        """Return the rules that allow or deny; those of a project can only be removed in its file."""
        found: dict[str, Permission] = {}
        own = place.own_list(_RULES)
        for origin, rules in place.settings.each(_RULES):
            for rule in rules if isinstance(rules, list) else ():
                if isinstance(rule, dict) and rule.get("action") in ("allow", "deny"):
                    key = json.dumps(rule, sort_keys=True)
                    removable = rule in own
                    found[f"{origin} {key}"] = Permission(
                        key, what=_in_words(rule), allowed=rule["action"] == "allow", place=origin, removable=removable
                    )
        return [*found.values()]

    async def remove(self, permission: Permission, place: PermissionPlace) -> None:
        """Remove a rule from the user's own settings.

        Raises:
            UserError: It is not there any more.
        """
        rules = place.own_list(_RULES)
        left = [rule for rule in rules if json.dumps(rule, sort_keys=True) != permission.key]
        if len(left) == len(rules):
            raise UserError(f"The rule {permission.key} is no longer in {_RULES} of your settings.")
        await place.settings.set(_RULES, left)


async def add_rules(added: Sequence[dict[str, str]], place: PermissionPlace) -> None:
    """Put rules in front of the user's own rules, where they count before all others.

    Raises:
        UserError: The settings file cannot be written.
    """
    rules = place.own_list(_RULES)
    new = [rule for number, rule in enumerate(added) if rule not in rules and rule not in added[:number]]
    await place.settings.set(_RULES, [*new, *rules])


def _in_words(rule: Mapping[str, Any]) -> str:
    subject = rule.get("command") or rule.get("path") or "everything"
    return f"{rule.get('tool', '*')} {subject}"
