"""``ctx.settings``: lets plugins read all settings, and change settings within limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pi_core.hooks.acting import acting_plugin
from pi_core.host.grants import FILE, is_granted
from pi_core.settings.values import name_of, steps_of
from pi_hookspecs import UnknownName, UserError, unanswered_reason

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_core.conversation.runtime import Runtime

__all__ = ["PluginSettings"]

_READING = ("all", "get_choice", "get_object", "origin", "problems", "project_trust", "trust_of", "version")
"""Further members of ``Settings`` that do not change anything."""


class PluginSettings:
    """Implements ``ChangeableSettings``; its reading methods delegate to ``Settings``.

    Args:
        runtime: The session that the plugins use.
    """

    def __init__(self, runtime: Runtime) -> None:
        settings = runtime.settings
        self._runtime = runtime
        self.agent_dir = settings.agent_dir
        self.get = settings.get
        self.get_bool = settings.get_bool
        self.get_number = settings.get_number
        self.get_str = settings.get_str
        self.get_str_list = settings.get_str_list
        self.each = settings.each
        self.place = settings.place
        self.unread = settings.unread

    def __getattr__(self, name: str) -> Any:
        if name in _READING:
            return getattr(self._runtime.settings, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)

    async def set(self, key: str | Sequence[str], value: Any, *, scope: Literal["user", "project"] = "user") -> bool:
        """Write a setting to the user's or the project's settings file; return whether it is in force."""
        runtime, steps = self._runtime, steps_of(key)
        plugin = acting_plugin()
        runtime.ctx.is_idle()  # raises if the session is over
        if plugin is not None and not is_granted(runtime.host.held.get(plugin), "ctx", "settings"):
            why = f"grants.ctx in its {FILE} does not name 'settings'"
            raise UserError(f"Plugin {plugin!r} changes a setting, and {why}")
        _check(runtime, steps, value)
        self._check_scope(steps, scope)
        if _is_protected(runtime, steps, plugin):
            await self._ask(plugin, steps, value)
        runtime.settings.set(steps, value, "global" if scope == "user" else "project")
        return bool(runtime.settings.get(steps) == value)

    def _check_scope(self, steps: Sequence[str], scope: str) -> None:
        if scope not in ("user", "project"):
            raise UserError(f"Setting {name_of(steps)!r}: scope must be 'user' or 'project', not {scope!r}")
        trust = self._runtime.settings.project_trust
        if scope == "project" and not trust.is_trusted:
            raise UserError(
                f"Setting {name_of(steps)!r} was not written for the project: {str(trust.cwd)!r} is not trusted, so "
                f"its settings are ignored. The user can run pi trust, or the plugin can use scope='user'."
            )

    async def _ask(self, plugin: str | None, steps: Sequence[str], value: Any) -> None:
        """Ask the user whether a plugin may change a protected setting.

        Raises:
            UserError: The user refused, or cannot be asked.
        """
        from pi_core.base.json_file import short_json
        from pi_hookspecs import Approval

        ctx, name, by = self._runtime.ctx, name_of(steps), f"plugin {plugin!r}" if plugin is not None else "a plugin"
        place = "The setting decides which plugins, guards or programs pi uses."
        if not ctx.has_ui:
            raise UserError(
                f"Setting {name!r} was not changed: {by} wants {short_json(value)}, and no user can be asked. {place}"
                f" The user can run pi config set."
            )
        what = f"{name} = {short_json(value)}"
        if await ctx.ui.approve(Approval(f"Let {by} change the setting {name}?", what=what, why=place)) is None:
            why = unanswered_reason() or f"the user did not allow {by} to do so"
            raise UserError(f"Setting {name!r} was not changed: {why}.")


def _check(runtime: Runtime, steps: Sequence[str], value: Any) -> None:
    """Check that a setting is known, and that its value is valid under pi's schema and plugins' declarations.

    Raises:
        UnknownName: The setting is unknown.
        UserError: The value is not valid.
    """
    known = runtime.settings.known
    if known.find(steps) is None:
        hint = "pi config list --all lists them; a plugin declares its own with the hook register_settings"
        raise UnknownName("setting", name_of(steps), [each.name for each in known], hint)
    problem = known.problem_with(steps, value)
    if problem is not None:
        raise UserError(problem)


def _is_protected(runtime: Runtime, steps: Sequence[str], plugin: str | None) -> bool:
    """Return whether a plugin needs the user's consent: for what a project cannot set freely, if it is not its own.

    A setting belongs to the enabled plugins that declare it, so that one that replaces another has its rights.
    """
    from pi_core.settings.project_limits import FREE

    settings, disabled = runtime.settings, runtime.host.disabled
    declared = [each for each in settings.known.declared if each.steps == tuple(steps)]
    enabled = [each for each in declared if each.plugin not in disabled]
    owners = {each.plugin for each in enabled if each.protected}
    rule = settings.project_rule(steps)
    if rule is not None and (rule.may != FREE or rule.consent):
        heirs = {each.plugin for each in enabled} if rule.owner in disabled else set()
        owners |= heirs or {rule.owner or steps[0]}  # a plugin of this name is the setting's own
    return bool(owners) and owners != {plugin}
