"""Loads installed plugins, each on its own, and describes them for the index."""

from __future__ import annotations

import sys
import time
from functools import reduce
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pi_core.host.discovery import find_origin, source_files
from pi_core.host.records import Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pi_core.host.breadcrumbs import Breadcrumbs
    from pi_core.host.records import PluginRecord
    from pi_core.host.registrar import Registrar

__all__ = ["Loader"]


class Loader:
    """Imports the plugins of one host and passes them to its registrar.

    Args:
        registrar: Registers the imported plugins.
        crumbs: Records which plugin is being loaded.
        report: Called with plugin, step and message for each problem.
        problems: Returns the problems that were reported so far.
        load_seconds: The deadline of each step.
        on_load: Called with a plugin's name and None before it is loaded, and with the milliseconds afterwards.
    """

    def __init__(
        self,
        registrar: Registrar,
        crumbs: Breadcrumbs,
        report: Callable[[str, str, str], None],
        problems: Callable[[], list[Problem]],
        load_seconds: float,
        *,
        on_load: Callable[[str, float | None], None] | None = None,
    ) -> None:
        self._registrar = registrar
        self._crumbs = crumbs
        self._report = report
        self._problems = problems
        self._load_seconds = load_seconds
        self._on_load = on_load
        self._loaded: set[str] = set()
        self.times: dict[str, float] = {}

    def load(self, record: PluginRecord) -> None:
        """Import a plugin and register it, unless this was already attempted; failures are reported.

        If it cannot be loaded, the hooks that it is known to guard refuse.
        """
        if record.name in self._loaded:
            return
        self._loaded.add(record.name)
        if not (record.loads and self._load(record)):
            self._refuse_hooks(record)

    def index_plugin(self, record: PluginRecord) -> None:
        """Fill in a record by loading its plugin."""
        started = time.perf_counter()
        before = len(self._problems())
        record.problems, record.rejected, record.registers, record.hooks = [], [], {}, []
        self._loaded.add(record.name)
        record.grants = self._read_grants(record)
        record.loads = self._requirements_met(record) and self._load(record, describe=True)
        if not record.loads:
            self._refuse_hooks(record)
        record.load_ms = round((time.perf_counter() - started) * 1000, 1)
        record.problems = self._problems()[before:]
        record.files = source_files(record.value)
        # A plugin that was not found, or that exceeded its deadline, may succeed at the next start.
        timed_out = record.load_ms >= self._load_seconds * 1000
        record.indexed = record.loads or not (timed_out or find_origin(record.value) is None)

    def look_again(self, record: PluginRecord) -> None:
        """Fill in the record of a plugin that could not be loaded, after loading it in another process first."""
        crash = self._try_in_process(record)
        if crash is None:
            self.index_plugin(record)
        else:
            self._exclude(record, crash)

    def exclude_crashing(self, records: Mapping[str, PluginRecord]) -> list[PluginRecord]:
        """Exclude plugins during whose loading pi died, unless another process can load them; return the excluded."""
        excluded = []
        for name, times in self._crumbs.left_behind().items():
            record = records.get(name)
            if record is None:
                continue
            crash = self._try_in_process(record)
            if crash is not None or times > 1:
                self._exclude(record, crash or "twice in a row")
                excluded.append(record)
        return excluded

    # Internals

    def _load(self, record: PluginRecord, *, describe: bool = False) -> bool:
        """Import a plugin and register it; return whether it could be imported."""
        if self._on_load is not None:
            self._on_load(record.name, None)
        started = time.perf_counter()
        try:
            return self._import_and_register(record, describe=describe)
        finally:
            took = self.times[record.name] = (time.perf_counter() - started) * 1000
            if self._on_load is not None:
                self._on_load(record.name, took)

    def _import_and_register(self, record: PluginRecord, *, describe: bool) -> bool:
        with self._crumbs.at(record.name):
            plugin = self._import(record)
            if plugin is not None and describe:
                self._read_condition(record, plugin)
            if plugin is not None and not self._registrar.register(record.name, plugin, record, describe=describe):
                self._refuse_hooks(record)
        return plugin is not None

    def _import(self, record: PluginRecord) -> object | None:
        module, _, path = record.value.partition(":")
        plugin: object | None = None
        with self._registrar.guarded(record.name, "import", f"importing {module}", "not loaded: "):
            start: object = import_module(module)
            plugin = reduce(getattr, filter(None, path.split(".")), start)
            if plugin is None:
                self._report(record.name, "import", f"not loaded: {record.value} is None")
        return plugin

    def _read_condition(self, record: PluginRecord, plugin: object) -> None:
        """Fill in the condition under which the plugin is loaded; without a valid condition it is always loaded."""
        from pi_core.host.conditions import condition_of  # only imported while indexing

        record.when = {}
        with self._registrar.guarded(record.name, "index", "reading pi_when"):
            try:
                record.when = condition_of(plugin)
            except ValueError as error:
                self._report(record.name, "index", str(error))

    def _read_grants(self, record: PluginRecord) -> dict[str, Any] | None:
        """Return the grants that a plugin declares; a file that cannot be read grants nothing."""
        if record.is_default:
            return None
        from pi_core.host.grants import read_grants  # only imported while indexing

        with self._registrar.guarded(record.name, "index", "reading pi_plugin.json"):
            return read_grants(record.distribution, record.value)
        return {}

    def _requirements_met(self, record: PluginRecord) -> bool:
        """Whether a plugin is compatible with this version of pi; an incompatibility is reported."""
        from pi_core.host.requirements import unmet_requirement  # only imported while indexing

        unmet: str | None = None
        with self._registrar.guarded(record.name, "index", "reading what it requires"):
            unmet = unmet_requirement(record.distribution)
        if unmet is not None:
            self._report(record.name, "import", f"not loaded: it {unmet}")
        return unmet is None

    def _refuse_hooks(self, record: PluginRecord) -> None:
        """Make hooks refuse that are known to be guarded by a plugin that cannot be loaded."""
        causes = [each.message for each in self._problems() if (each.plugin, each.step) == (record.name, "import")]
        why = causes[-1].removeprefix("not loaded: ") if causes else "not loaded"
        self._registrar.gates.refuse(record.name, record.guards, why)

    def _try_in_process(self, record: PluginRecord) -> str | None:
        from pi_core.host.trial import crash_of

        return crash_of(record.value, sys.path, self._load_seconds)

    def _exclude(self, record: PluginRecord, how: str) -> None:
        """Mark a plugin as not loadable until it changes."""
        message = (
            f"not loaded: loading it ends the process ({how}). It is left out until it changes;"
            f" pi plugins retry {record.name} tries it again"
        )
        record.rejected, record.registers, record.hooks = [], {}, []
        record.problems = [Problem(record.name, "import", message)]
        record.loads, record.indexed = False, True
        record.files = source_files(record.value)
