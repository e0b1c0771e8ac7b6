"""What the settings of a trusted project may do to the user's: set a value, only make it stricter, or nothing.

Each declaration of a setting has one rule, ``pi_hookspecs.ProjectMay``. A project's value that its rule does not permit
is left out and reported: trust in a project's files is no permission to loosen the user's policies, to name programs
and addresses, or to send a conversation elsewhere.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from pi_core.settings.declared import groups_of
from pi_core.settings.values import MISSING, is_finite, look_up, put

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pi_core.settings.declared import DeclaredSetting

__all__ = ["FREE", "ProjectRule", "RuleTree", "add_rules", "describe_rule", "keep_permitted", "rule_at"]

FREE = "set"
"""The rule of settings that a project may set to any value."""


class ProjectRule(NamedTuple):
    """The rule of one setting.

    Attributes:
        may: What a project may do, one of ``pi_hookspecs.ProjectMay``.
        unset: The value that a project's is compared with if the user has not set it.
        consent: Whether a plugin needs the user's consent to change it although a project may set it.
        owner: The plugin that declared it; None for pi's own.
    """

    may: Any
    unset: Any = None
    consent: bool = False
    owner: str | None = None


RuleTree: TypeAlias = "dict[str, ProjectRule | RuleTree]"
"""Rules by key, nested like the files; ``*`` stands for any name."""


def keep_permitted(
    given: Mapping[str, Any], own: Mapping[str, Any], rules: RuleTree, report: Callable[[Sequence[str], Any, str], None]
) -> tuple[dict[str, Any], list[tuple[tuple[str, ...], list[Any]]]]:
    """Return the project's settings without those that its rules do not permit.

    Args:
        given: The project's settings, nested like the file.
        own: The user's own.
        rules: The rules of all known settings. Others are kept: no installed plugin reads them.
        report: Called with the path, the value that is left out, and what the rule permits.

    Returns:
        What is kept, and the path and items of lists that the project adds to the user's.
    """
    added: list[tuple[tuple[str, ...], list[Any]]] = []

    def kept(given: Mapping[str, Any], own: Any, rules: RuleTree, above: tuple[str, ...]) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for key, value in given.items():
            path = (*above, key)
            rule = rules.get(key, rules.get("*"))
            mine = look_up(own, (key,))
            if rule is None:
                values[key] = value
            elif isinstance(rule, ProjectRule):
                permitted = _permitted(rule, value, rule.unset if mine is MISSING or mine is None else mine)
                left_out = _left_out(rule, value, permitted)
                if left_out is not MISSING:
                    report(path, left_out, describe_rule(rule.may))
                if permitted is not MISSING:
                    values[key] = permitted
                    if _extends(rule, permitted) and isinstance(mine, list):
                        added.append((path, [*mine, *(each for each in permitted if each not in mine)]))
            elif isinstance(value, dict):
                values[key] = kept(value, mine, rule, path)
            elif all(each.may == FREE for each in _leaves(rule)):
                values[key] = value
            else:  # null, or a value of another type, in place of the user's whole object
                report(path, value, "a project may only change the settings in it")
        return values

    return kept(given, own, rules, ()), added


def rule_at(rules: RuleTree, steps: Sequence[str]) -> ProjectRule | None:
    """Return the rule of a setting, or for an object the strictest of its settings'; None if it is unknown."""
    node: ProjectRule | RuleTree | None = rules
    for step in steps:
        if not isinstance(node, dict):
            return node
        node = node.get(step, node.get("*"))
    if isinstance(node, dict):
        below = list(_leaves(node))
        return next((each for each in below if each.may != FREE or each.consent), below[0] if below else None)
    return node


def add_rules(rules: RuleTree, declared: Sequence[DeclaredSetting]) -> None:
    """Add the rules of plugins' settings; those of pi's own settings, and of earlier declarations, are not replaced."""
    groups = groups_of(declared)
    for each in declared:
        if each.steps not in groups and rule_at(rules, each.steps) is None:
            put(rules, each.steps, ProjectRule(each.may, each.schema.get("default"), each.protected, each.plugin))


def describe_rule(may: Any) -> str:
    """Return what a rule permits, as the rest of a sentence that begins with the setting."""
    if isinstance(may, tuple | list):
        return f"a project may only choose one that is stricter than yours ({', '.join(may)}: strictest first)"
    return _DESCRIPTIONS[may]


_DESCRIPTIONS = {
    FREE: "a project may set it",
    "nothing": "only your own settings may set it",
    "enable": "a project may only set it to true",
    "disable": "a project may only set it to false",
    "lower": "a project may only lower it",
    "add": "a project may only add to the list",
    "restrict": "a project may only add rules and names to the list that allow nothing",
    "narrow": "a project may only leave out items of your list",
}


def _permitted(rule: ProjectRule, value: Any, mine: Any) -> Any:
    """Return the part of a value that a rule permits, or ``MISSING``; ``mine`` is the user's, None if unlimited."""
    may = rule.may
    if may == FREE or (value == mine and type(value) is type(mine)):
        return value
    if isinstance(may, tuple | list):
        return value if _is_stricter(value, mine, may) else MISSING
    if may in _ITEMS and isinstance(value, list):
        return [each for each in value if _ITEMS[may](each)]
    if may == "narrow" and isinstance(value, list):
        names = mine if isinstance(mine, list | tuple) else rule.unset  # as it is read where it is no list
        return value if names is None else _narrowed(value, names)
    if may == "disable" and isinstance(value, dict) and not isinstance(rule.unset, bool):
        return {name: each for name, each in value.items() if each is False}  # things that can be switched off by name
    return value if may in _VALUES and _VALUES[may](value, mine) else MISSING


def _is_stricter(value: Any, mine: Any, choices: Sequence[Any]) -> bool:
    loosest = choices.index(mine) if mine in choices else len(choices)
    return value in choices and choices.index(value) <= loosest


def _is_lower(value: Any, mine: Any) -> bool:
    return _is_number(value) and (not _is_number(mine) or value <= mine)


def _extends(rule: ProjectRule, permitted: Any) -> bool:
    """Whether the project's list is added to the user's, and does not replace it."""
    changes = isinstance(permitted, list) and bool(permitted) and all(_is_removal(each) for each in permitted)
    return rule.may in ("add", "restrict") or (rule.may == "narrow" and changes)


def _is_removal(item: Any) -> bool:
    return isinstance(item, str) and item.startswith("-")


def _narrowed(value: list[Any], mine: Any) -> Any:
    """Return what two lists of names and patterns have in common, and what the first one removes (``-name``).

    A list that has only changes (``+name``, ``-name``) keeps those that remove; without any it is ``MISSING``.
    """
    removals = [each for each in value if _is_removal(each)]
    if value and all(isinstance(each, str) and each[:1] in ("+", "-") for each in value):
        return removals or MISSING
    names = ([each.lstrip("+") for each in names if isinstance(each, str)] for names in (value, mine))
    given, own = ([each for each in each_list if not _is_removal(each)] for each_list in names)
    kept = [each for each in given if any(each == name or fnmatchcase(each, name) for name in own)]
    kept += [name for name in own if name not in kept and any(fnmatchcase(name, each) for each in given)]
    return kept + removals if kept else []


def _allows(item: Any) -> bool:
    """Whether an item of a list of rules or protected names takes a restriction away."""
    return item.startswith("!") if isinstance(item, str) else isinstance(item, dict) and item.get("action") == "allow"


_VALUES: dict[str, Callable[[Any, Any], bool]] = {
    "enable": lambda value, _mine: value is True,
    "disable": lambda value, _mine: value is False,
    "lower": _is_lower,
}
_ITEMS: dict[str, Callable[[Any], bool]] = {
    "add": lambda item: item is not None,
    "restrict": lambda item: not _allows(item),
}


def _left_out(rule: ProjectRule, value: Any, permitted: Any) -> Any:
    """Return the part of a value that has no effect, or ``MISSING`` if all of it has."""
    if permitted is MISSING:
        return value
    if isinstance(value, dict) and isinstance(permitted, dict):
        return {name: each for name, each in value.items() if name not in permitted} or MISSING
    if not isinstance(value, list) or not isinstance(permitted, list):
        return MISSING

    def counts(item: Any) -> bool:
        if rule.may == "narrow" and isinstance(item, str):
            return any(isinstance(each, str) and fnmatchcase(each, item.lstrip("+")) for each in permitted)
        return item in permitted

    return [each for each in value if not counts(each)] or MISSING


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and is_finite(value)


def _leaves(rules: RuleTree) -> Iterable[ProjectRule]:
    for node in rules.values():
        if isinstance(node, dict):
            yield from _leaves(node)
        else:
            yield node
