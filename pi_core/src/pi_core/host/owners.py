"""Determines whose code a stack frame belongs to, by the name of its module: a plugin's, pi's, or a library's."""

from __future__ import annotations

import os
from contextvars import ContextVar
from typing import TYPE_CHECKING, Protocol

import pi_hookspecs
from pi_core.base.frames import top_package

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from types import FrameType

    from pi_core.host.records import PluginRecord

__all__ = ["CodeOwners", "OwnersHost", "code_owners"]

_KITS = frozenset(
    {"pi_client", "pi_core", "pi_hookspecs", "pi_process_kit", "pi_provider_kit", "pi_rpc_kit", "pi_terminal_kit"}
)
_ENGINE = (
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep,  # noqa: PTH100, PTH120 - as code objects have it
    os.path.dirname(str(pi_hookspecs.__file__)) + os.sep,  # noqa: PTH120
)
"""The folders of the engine and of the contract."""

_LOCAL = "_pi_extensions_"


class OwnersHost(Protocol):
    """The members of the plugin host that are used here."""

    @property
    def records(self) -> Mapping[str, PluginRecord]:
        """The installed plugins by name."""
        ...

    def added(self) -> list[str]:
        """Return the names of the plugins that are not installed."""
        ...

    def plugin_object(self, name: str) -> object | None:
        """Return a plugin's object; None if none is registered."""
        ...


class CodeOwners:
    """The plugins of one host by their modules. It may be used in any thread, and inside a signal handler."""

    def __init__(self, host: OwnersHost) -> None:
        self._host = host
        self._modules: tuple[object, dict[str, list[str]], frozenset[str]] = (None, {}, frozenset())

    def plugin_of(self, frame: FrameType) -> str | None:
        """Return the plugin whose module a frame's code belongs to; None for all other code."""
        found = self.plugins_of(frame)
        return found[0] if found else None

    def plugins_of(self, frame: FrameType) -> list[str]:
        """Return the plugins that a frame's code may belong to: several if a program defines them in one module."""
        top = top_package(frame)
        known = self._read()[1].get(top)
        if known is None and top.startswith(_LOCAL):
            return [top.removeprefix(_LOCAL).partition("_")[2]]
        return known or []

    def innermost(self, frames: Iterable[FrameType]) -> tuple[str, FrameType] | None:
        """Return the plugin whose code runs, with its frame; None if pi's own code is further in, or is alone.

        Args:
            frames: A stack from the inside outwards.
        """
        for each in frames:
            if self.is_pi(each):
                return None
            plugin = self.plugin_of(each)
            if plugin is not None:
                return plugin, each
        return None

    def is_default(self, plugin: str | None) -> bool:
        """Whether a plugin is one of pi's own."""
        record = self._host.__dict__.get("records", {}).get(plugin)
        return record is not None and record.is_default

    def is_kit(self, frame: FrameType) -> bool:
        """Whether a frame belongs to pi's engine, or to a library that pi provides for plugins."""
        return top_package(frame) in _KITS

    def is_pi(self, frame: FrameType) -> bool:
        """Whether a frame belongs to pi's engine, or to a front end."""
        if frame.f_code.co_filename.startswith(_ENGINE):
            return True
        return any(each in self._read()[2] for each in self.plugins_of(frame))

    def is_program(self, frame: FrameType) -> bool:
        """Whether a frame belongs to a module of the program that has passed the plugin to pi."""
        top = top_package(frame)
        records = self._host.__dict__.get("records", {})
        return not top.startswith(_LOCAL) and all(each not in records for each in self.plugins_of(frame))

    def _read(self) -> tuple[object, dict[str, list[str]], frozenset[str]]:
        records = self._host.__dict__.get("records", {})  # avoid discovery while a file is being opened
        mark = (len(records), tuple(self._host.added()))
        if self._modules[0] != mark:
            found: dict[str, list[str]] = {}
            for name, record in records.items():
                found.setdefault(record.value.partition(":")[0].partition(".")[0], []).append(name)
            for name in self._host.added():
                plugin = self._host.plugin_object(name)
                module = getattr(plugin, "__name__", None) or type(plugin).__module__
                found.setdefault(str(module).partition(".")[0], []).append(name)
            modules = {module: names for module, names in found.items() if module not in _KITS}
            front_ends = frozenset(name for name, record in records.items() if record.names("register_modes"))
            self._modules = (mark, modules, front_ends)
        return self._modules


code_owners: ContextVar[CodeOwners | None] = ContextVar("code_owners", default=None)
"""The plugins of the host that the program has created for its front end, which is there before the session."""
