"""Decides whether a project is trusted: asks plugins first, then uses the stored decision, then asks the user."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import evolve

import pi_hookspecs
from pi_core.base.process.forks import exit_forked_children
from pi_core.host.approved import declared_packages
from pi_core.plugin_api.context import NoUserInterface
from pi_core.plugin_api.plugin_ui import plugin_ui
from pi_core.settings.trust import TrustStore
from pi_hookspecs import UserError
from pi_hookspecs.specs.session import project_trust

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from pi_core.hooks.dispatcher import HookDispatcher
    from pi_core.hooks.reports import HookTrace
    from pi_core.host import PluginHost
    from pi_core.settings.trust import ProjectTrust
    from pi_hookspecs import Approval, FullUserInterface, ProjectTrustResult, SettingsView, UserInterface

__all__ = ["ask_for_trust", "confirm_trust"]

_ANSWERS: dict[str, dict[str, Any]] = {
    "folder": {"trusted": "yes", "remember": True},
    "parent": {"trusted": "yes", "remember": True, "of_parent": True},
    "once": {"trusted": "yes"},
    "never": {"trusted": "no", "remember": True},
    "no": {"trusted": "no"},
}


async def ask_for_trust(
    host: PluginHost,
    trust: ProjectTrust,
    *,
    mode: str = "print",
    ui: UserInterface | None = None,
    ask: Callable[[ProjectTrust], Awaitable[ProjectTrustResult | None]] | None = None,
    report: Callable[[str], None] = lambda _problem: None,
) -> ProjectTrust:
    """Return the decision about a project; a decision that is to be remembered is written to ``trust.json``.

    A project without files of its own needs no decision.

    Args:
        host: The plugin host, with settings that do not include the project's settings.
        trust: Decides without asking: ``ProjectTrust.decide``.
        mode: The name of the front end.
        ui: The user interface for plugins; None when there is no user.
        ask: Asks the user if neither a plugin nor an earlier decision applies; None leaves the project untrusted.
        report: Called with one line for each failure.
    """
    if not trust.resources:
        return trust
    host.load(*(record.name for record in host.records.values() if project_trust.__name__ in record.hooks))
    calls: list[HookTrace] = []
    hooks = host.dispatcher(lambda failure: report(str(failure)), calls.append)
    try:
        answer = None
        if hooks.listens(project_trust.__name__):
            event = pi_hookspecs.ProjectTrustEvent(cwd=str(trust.cwd), resources=tuple(map(str, trust.resources)))
            ctx = _Context(host.settings, trust.cwd, mode, ui, hooks)
            with exit_forked_children():
                answer = await hooks.call(project_trust, event, ctx)
        if answer is not None:
            return _decided(trust, answer, f"plugin {calls[-1].plugin!r} says so", host.settings.agent_dir, report)
    finally:
        hooks.close()
    if trust.decided or ask is None:
        return trust
    answer = await ask(trust)
    if answer is None or answer.abstains:
        return trust
    return _decided(trust, answer, "your answer", host.settings.agent_dir, report)


async def confirm_trust(ui: UserInterface, trust: ProjectTrust) -> ProjectTrustResult | None:
    """Ask the user for approval; return None when the question is dismissed."""
    from pi_core.plugin_api.approvals import ask_approval

    answer = await ask_approval(ui, _question(trust))
    return pi_hookspecs.ProjectTrustResult(**_ANSWERS[answer]) if answer is not None else None


def _question(trust: ProjectTrust) -> Approval:
    from pi_hookspecs import Approval, ApprovalChoice

    why = "These files can run code and instruct the model."
    packages = declared_packages(trust.cwd)
    if packages:
        why += f" They name packages to install: {', '.join(packages)}."
    choices = (
        ApprovalChoice(
            "folder", "Trust this folder", means="and all folders below it, from now on", lasting=True, key="y"
        ),
        ApprovalChoice("parent", "Trust its parent folder", means=str(trust.cwd.parent), lasting=True, key="p"),
        ApprovalChoice("once", "Trust it this time", key="o"),
        ApprovalChoice(
            "never", "Do not trust this folder", means="do not ask again", allows=False, lasting=True, key="d"
        ),
        ApprovalChoice("no", "Not this time", allows=False, lasting=True, key="n"),
    )
    return Approval(f"Use the files of {trust.cwd}?", what=trust.named_resources, why=why, choices=choices)


def _decided(
    trust: ProjectTrust, answer: ProjectTrustResult, why: str, agent_dir: Path, report: Callable[[str], None]
) -> ProjectTrust:
    is_trusted = answer.trusted == "yes"
    if answer.remember:
        try:
            store = TrustStore(agent_dir)
            if answer.of_parent and is_trusted:
                store.remember_parent(trust.cwd)
            else:
                store.remember(trust.cwd, trusted=is_trusted)
        except UserError as error:
            report(f"{str(error).removesuffix('.')}. The decision applies only to this run.")
    return evolve(trust, is_trusted=is_trusted, why=why, decided=True)


class _Context:
    """``ctx`` before there is a session: implements ``StartContext``."""

    signal = None

    def __init__(
        self, settings: SettingsView, cwd: Path, mode: str, ui: UserInterface | None, hooks: HookDispatcher
    ) -> None:
        self.settings = settings
        self.cwd = cwd
        self.mode = mode
        self.has_ui = ui is not None
        self.ui: FullUserInterface = plugin_ui(ui or NoUserInterface(), hooks)
