"""The service that makes a plugin of a program, from what the index knows of it; nothing is started."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve

from pi_core.host.extensions.manifests import Refusing
from pi_core.host.extensions.program_index import ProgramIndex
from pi_hookspecs import PiError, UserError
from pi_isolated.plugin import ProgramPlugin
from pi_isolated.ready import Ready, parse_ready, unmet_contract

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_hookspecs import PluginManifest

__all__ = ["ProgramRunner"]


class ProgramRunner:
    """Runs programs as plugins (``PluginRunner``)."""

    def load_plugin(self, manifest: PluginManifest, report: Callable[[str], None]) -> object:
        """Return the plugin of a program; nothing is started.

        Raises:
            UserError: It is for another contract, and is not known to refuse anything.
        """
        index = ProgramIndex(manifest.agent_dir, manifest.folder, manifest.entry)
        unmet = unmet_contract(manifest.contract)
        if unmet is not None:
            guards = index.guards(manifest.grants)
            if not guards:
                raise UserError(f"it {unmet}")
            report(f"it {unmet}. Until then it refuses in {', '.join(guards)}")
            return Refusing(manifest.name, guards, f"it {unmet}")
        ready = _known(index, report)
        if ready is None:
            stated: dict[str, dict[str, object]] = {hook: {} for hook in index.guards(manifest.grants)}
            known = parse_ready({"registers": manifest.registers or {}}, report)
            return ProgramPlugin(manifest, index, evolve(known, hooks=stated), is_known=False)
        return ProgramPlugin(manifest, index, ready, is_known=index.is_fresh(), report=report)


def _known(index: ProgramIndex, report: Callable[[str], None]) -> Ready | None:
    """Return the program's latest first message; None if there is none, or if this version does not understand it."""
    found = index.read()
    if not found:
        return None
    try:
        return parse_ready(found, report)
    except PiError:
        return None
