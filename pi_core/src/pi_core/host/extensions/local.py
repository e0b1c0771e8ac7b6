"""``LocalExtensions``: finds local extensions, installs their requirements, and loads and reloads them in a host."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from pi_core.host.extensions.left_out import LeftOut
from pi_core.host.extensions.places import ExtensionSource, find_extensions
from pi_core.host.guarded import guarded
from pi_hookspecs import UnknownName, UserError
from pi_hookspecs.deferred import define
from pi_hookspecs.values import ReprMixin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from pi_core.host.conditions import Condition
    from pi_core.host.extensions.projects import ProjectPlugin
    from pi_core.host.extensions.staged import Staged
    from pi_core.host.plugin_host import PluginHost

__all__ = ["LocalExtensions", "files_of"]


@define(eq=False, repr=False)
class _Loaded(ReprMixin):
    """An extension and its plugins: the extension itself, or the plugins of a distribution."""

    source: ExtensionSource
    plugins: dict[str, object]


class LocalExtensions:
    """The local extensions of one host.

    Args:
        host: The host that they are added to as plugins.
        cwd: The project's folder.
        given: Paths and requirements of this run.
        discover: Whether to load extensions other than those of this run.
        say: Called with a line of text before a slow step.
        environ: The environment variables that locate the home folder and uv; None uses the environment of the process.

    Attributes:
        given: Paths and requirements of this run.
        discover: Whether to load extensions other than those of this run.
        disabled: The extensions that were found but left out because they are disabled by name.
        resources: Paths of skills, prompts and themes from packages of this run, by their folder, each with the package
            as it was given.
        waiting: The extensions that were left out because their ``pi_when`` is not met, each with its condition.
    """

    def __init__(
        self,
        host: PluginHost,
        *,
        cwd: Path,
        given: Sequence[str | Path] = (),
        discover: bool = True,
        say: Callable[[str], object] = lambda _line: None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self._host = host
        self._cwd = cwd
        self.given = [os.fspath(each) for each in given]
        self.discover = discover
        self._say = say
        self._environ = environ
        self.disabled: list[ExtensionSource] = []
        self.waiting: list[tuple[ExtensionSource, Condition]] = []
        self.resources: dict[str, list[tuple[str, str]]] = {}
        self._loaded: dict[str, _Loaded] = {}
        self._left_out = LeftOut(host.settings.agent_dir / "cache")
        host.extensions = self

    @property
    def sources(self) -> dict[str, ExtensionSource]:
        """The loaded extensions by plugin name."""
        return {name: loaded.source for name, loaded in self._loaded.items()}

    @property
    def plugin_names(self) -> set[str]:
        """The names of the extensions' plugins."""
        return {name for loaded in self._loaded.values() for name in loaded.plugins}

    def load(self) -> None:
        """Find and load all extensions. Problems of one are reported to the host and do not affect the others.

        Raises:
            UserError: An item that this run names is neither an existing path nor a requirement.
        """
        self.waiting = []
        for source in self._find():
            if source.plugin is not None and self._is_installed(source.plugin):
                continue
            with self._reporting(source):
                self._check_it_ends_nothing(source)
                self._prepare(source)
                if source.requirement is not None:
                    self._add_distribution(source)
                    continue
                name = self._free_name(source)
                problems: list[str] = []
                plugin = self._import(source, name, problems.append)
                if plugin is None and source.program is None and source.script is None:
                    self._refuse(source, name, "; ".join(problems))
                    continue
                report = partial(self._report, name, "import")
                for problem in problems:
                    report(problem)
                if plugin is not None and self._is_wanted(source, plugin, report):
                    self._host.add(plugin, name)
                    self._loaded[name] = _Loaded(source, {name: plugin})

    def marks(self) -> dict[Path, int]:
        """Return the files and folders of all extensions with their modification times."""
        found: dict[Path, int] = {}
        with suppress(UserError):
            for source in self._find(report=False):
                if source.path is not None:
                    found.update((file, _time(file)) for file in files_of(source))
        return found

    async def stage(self) -> Staged:
        """Load the current files without replacing running extensions yet; one that fails to load replaces nothing."""
        import asyncio

        from pi_core.host.extensions.staged import Staged  # only needed for a reload

        failed: list[tuple[str, str]] = []
        modules: dict[Any, object] = {}
        try:
            sources = self._find()
        except UserError as error:
            return Staged(self.put, [each.source for each in self._loaded.values()], {}, [("(extensions)", str(error))])
        self.waiting = []
        for source in sources:
            try:
                await asyncio.to_thread(self._prepare, source)
            except UserError as error:
                failed.append((source.name, f"not loaded: {error}"))
                continue
            if source.path is not None:
                report = partial(_note, failed, source.name)
                plugin = self._import(source, source.name, report)
                if plugin is not None and self._is_wanted(source, plugin, report):
                    modules[source.key] = plugin
        waiting = [source.key for source, _ in self.waiting]
        return Staged(self.put, [each for each in sources if each.key not in waiting], modules, failed)

    def put(
        self, sources: Iterable[ExtensionSource], modules: Mapping[Any, object], replaced: dict[str, object]
    ) -> list[tuple[str, str]]:
        """Replace, add and remove plugins; store previous objects in ``replaced`` and return problems by plugin."""
        sources = list(sources)
        there = {source.key for source in sources}
        for name, loaded in list(self._loaded.items()):
            if loaded.source.path is not None and loaded.source.key not in there:
                _forget(self._host.remove(name))
                del self._loaded[name]
        names = {loaded.source.key: name for name, loaded in self._loaded.items() if loaded.source.path is not None}
        wrong: list[tuple[str, str]] = []
        for source in sources:
            if source.path is None or source.key not in modules:
                continue
            plugin = modules[source.key]
            if source.key in names:
                name = names[source.key]
                before = self._host.replace(name, plugin)
            else:
                name, before = self._free_name(source), None
                self._host.add(plugin, name)
            problems = [f"{each.step}: {each.message}" for each in self._host.problems if each.plugin == name]
            if problems and before is not None:
                self._host.replace(name, before)
                problems.append("the previous version stays in use")
            else:
                self._loaded[name] = _Loaded(source, {name: plugin})
            if before is not None and not problems:
                replaced[name] = before
            wrong += [(name, problem) for problem in problems]
        return wrong

    # Inside

    def _find(self, *, report: bool = True) -> list[ExtensionSource]:
        sources, problems = find_extensions(
            self._cwd, self._host.settings, self.given, discover=self.discover, environ=self._environ
        )
        for problem in problems if report else ():
            self._host.report("(extensions)", "extensions", problem)
        disabled = {source.name for source in sources} & self._host.disabled
        if disabled:  # the host looks such names up only among installed plugins
            misleading = {str(UnknownName("plugin", name, self._host.records)) for name in disabled}
            self._host.problems = [each for each in self._host.problems if each.message not in misleading]
        self.disabled = [source for source in sources if source.name in disabled]
        left_out = self._not_allowed([each.name for each in sources if each.requirement is None], report=report)
        return [source for source in sources if source.name not in disabled | left_out.keys()]

    def _not_allowed(self, names: list[str], *, report: bool) -> dict[str, str]:
        if not self._host.settings.each("plugins.allow"):
            return {}
        from pi_core.host.policy import not_allowed  # most users allow all plugins

        found = not_allowed(names, self._host.settings)
        for name, reason in found.items() if report else ():
            self._host.report(name, "import", f"not loaded: {reason}")
        return found

    def _is_installed(self, plugin: ProjectPlugin) -> bool:
        """Whether a project's plugin is installed, for example because the project is an editable install."""
        from pi_core.host.discovery import find_origin

        record = self._host.records.get(plugin.name)
        origin = find_origin(record.value) if record is not None else None
        return origin is not None and plugin.file.resolve().samefile(origin)

    def _prepare(self, source: ExtensionSource) -> None:
        """Install an extension's requirements.

        Raises:
            UserError: A requirement cannot be installed, or the file cannot be read.
        """
        from pi_core.host.extensions.needs import needs_of_file, needs_of_project

        if source.requirement is not None:
            wanted: tuple[str, ...] = (source.requirement,)
        elif source.plugin is not None:
            wanted = needs_of_project(source.plugin)
        elif source.program is not None or source.script is not None:
            wanted = ()
        else:
            assert source.path is not None  # noqa: S101 - one of the two is there
            wanted = needs_of_file(source.path)
        if wanted:
            from pi_core.host.extensions.dependencies import install, use

            folder = install(wanted, self._host.settings.agent_dir / "cache" / "extensions", self._say, self._environ)
            if folder is not None:
                use(folder)

    def _import(self, source: ExtensionSource, name: str, report: Callable[[str], None]) -> object | None:
        from pi_core.host.extensions.loading import load, load_entry_point

        assert source.path is not None  # noqa: S101 - callers have looked
        if source.program is not None:
            from pi_core.host.extensions.manifests import load_program  # most users have no plugins that are programs

            return load_program(self._host, source.program, name, report)
        if source.script is not None:
            from pi_core.host.extensions.scripts import load_script  # most users have no such extensions

            return load_script(self._host, source.script, name, report)
        loaded: list[object] = []
        what = f"running {source.path}"
        guard = guarded(lambda message: report(f"not loaded: {message}"), name, what, self._host.load_seconds)
        with self._host.crumbs.at(str(source.path), source.name), guard:
            if source.plugin is None:
                loaded.append(load(source.path, name))
            else:
                loaded.append(load_entry_point(source.plugin.value, source.plugin.root))
        return loaded[0] if loaded else None

    def _is_wanted(self, source: ExtensionSource, plugin: object, report: Callable[[str], None]) -> bool:
        """Whether an extension's ``pi_when`` is missing, met, or invalid; an invalid one is reported.

        An extension is not in the index, so its condition is only known after it has run. It runs before the options of
        plugins are read, because it may register options; so a condition on options counts as met.
        """
        if not hasattr(plugin, "pi_when"):
            return True
        from pi_core.host.conditions import condition_of, is_met

        try:
            condition = condition_of(plugin)
        except ValueError as error:
            report(str(error))
            return True
        if condition.get("flags") or is_met(condition, self._host.settings, self._cwd):
            return True
        self.waiting.append((source, condition))
        _forget(plugin)
        return False

    def _check_it_ends_nothing(self, source: ExtensionSource) -> None:
        """Raise if loading an extension would end the process: it did so before, and again in a trial.

        Raises:
            UserError: Loading would end the process; the extension is left out until it changes.
        """
        path = source.path
        if path is None or source.program is not None or source.script is not None:
            return
        time = max(map(_time, files_of(source)))
        died = self._left_out.why(path, time)
        times = self._host.crumbs.left_behind().get(str(path), 0)
        if died is None and times:
            from pi_core.host.trial import crash_of

            value, roots = (source.plugin.value, [str(source.plugin.root)]) if source.plugin else (str(path), [])
            died = crash_of(value, [*sys.path, *roots], self._host.load_seconds)
            died = died or ("twice in a row" if times > 1 else None)
            if died is not None:
                self._left_out.add(path, time, died)
        if died is not None:
            raise UserError(f"loading it ends the process ({died}). It is left out until it changes")

    def _add_distribution(self, source: ExtensionSource) -> None:
        """Add the plugins of a distribution that was installed for this run."""
        from importlib.metadata import distribution

        from pi_core.host.policy import denied
        from pi_core.host.requirements import unmet_requirement

        reason = denied(f"pypi:{source.name.lower()}", self._host.settings)
        if reason is not None:
            raise UserError(reason)
        unmet = unmet_requirement(source.name)  # pi's own packages come before newer copies in the folder
        if unmet is not None:
            raise UserError(f"it {unmet}")
        found = [each for each in distribution(source.name).entry_points if each.group == "pi"]
        if not found:
            raise UserError(f"{source.name!r} has no entry point in group 'pi': it is not a plugin")
        left_out = {*self._host.disabled, *self._not_allowed([each.name for each in found], report=True)}
        plugins: dict[str, object] = {}
        for entry_point in found:
            if self._host.has(entry_point.name) or entry_point.name in left_out:
                continue  # installed with pi, or earlier
            report, what = partial(self._report, entry_point.name, "import"), f"importing {entry_point.value}"
            with guarded(report, entry_point.name, what, self._host.load_seconds):
                plugins[entry_point.name] = entry_point.load()
        for name, plugin in plugins.items():
            self._host.add(plugin, name)
        self._loaded[source.name] = _Loaded(source, plugins)

    def _free_name(self, source: ExtensionSource) -> str:
        """Return the plugin's name: the name of the file, with a number if another plugin already has it."""
        if not self._host.has(source.name):
            return source.name
        number = 2
        while self._host.has(f"{source.name}-{number}"):
            number += 1
        name = f"{source.name}-{number}"
        taken = f"another plugin is named {source.name!r}, so"
        message = f"{taken} {source.path} is loaded as {name!r}. Rename the file"
        if source.package is not None:
            message = (
                f"{taken} an extension of the package {source.package} is loaded as {name!r}; both are used."
                f" To keep only the other one: pi remove {source.package}"
            )
        self._report(name, "name", message)
        return name

    def _report(self, name: str, step: str, message: str) -> None:
        self._host.report(name, step, message)

    def _reporting(self, source: ExtensionSource) -> Any:
        return _Reporting(lambda message: self._refuse(source, source.name, f"not loaded: {message}"))

    def _refuse(self, source: ExtensionSource, name: str, why: str) -> None:
        """Report that an extension cannot be used, and let it refuse if it may hold a hook that refuses."""
        from pi_core.host.extensions.manifests import Refusing
        from pi_core.host.gates import guarded_hooks, hooks_named_in
        from pi_hookspecs.specs import all_hookspecs

        hooks = guarded_hooks(all_hookspecs()) if source.path is None else hooks_named_in(files_of(source))
        if not hooks or self._host.has(name):
            self._report(name, "import", why)
            return
        self._report(
            name, "import", f"{why}. It refuses in {', '.join(hooks)} until it is fixed or disabled: --disable {name}"
        )
        plugin = Refusing(name, hooks, why.removeprefix("not loaded: "))
        self._host.add(plugin, name)
        self._loaded[name] = _Loaded(source, {name: plugin})


class _Reporting:
    """Reports problems that the user can fix, and suppresses them."""

    def __init__(self, report: Callable[[str], None]) -> None:
        self._report = report

    def __enter__(self) -> None:
        pass

    def __exit__(self, _type: object, error: BaseException | None, _trace: object) -> bool:
        if not isinstance(error, UserError):
            return False
        self._report(str(error))
        return True


def files_of(source: ExtensionSource) -> list[Path]:
    """Return the files of an extension: itself, all files of its package in Python, or all files of a program."""
    path = source.path
    assert path is not None  # noqa: S101 - callers have looked
    if source.program is not None or (source.script is not None and path.stem == "index"):
        from pi_core.host.extensions.program_index import files_of_program

        return files_of_program(path.parent)
    return [path] if path.name != "__init__.py" else sorted(path.parent.rglob("*.py"))


def _time(file: Path) -> int:
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return -1


def _note(failed: list[tuple[str, str]], name: str, problem: str) -> None:
    failed.append((name, problem))


def _forget(module: object) -> None:
    loading = sys.modules.get("pi_core.host.extensions.loading")
    if loading is not None:
        loading.forget(module)
