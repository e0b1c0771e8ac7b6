"""``DefaultResourceLoader``: loads every kind of resource of a session, with the options of pi's SDK."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING

from pi_core.base.paths import home_dir
from pi_core.resources.cache import ContentCache
from pi_core.resources.kind_loader import KindLoader
from pi_core.resources.places import SearchContext
from pi_hookspecs.resources import ResourceSet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pi_core.host import PluginHost
    from pi_core.settings import Settings
    from pi_hookspecs import ResourceKind, ResourceProblem

    Override = Callable[[ResourceSet], ResourceSet]

__all__ = ["DefaultResourceLoader"]


class DefaultResourceLoader:
    """Finds skills, prompt templates, themes, context files and plugins' kinds; implements ``ResourceLoader``.

    Arguments that are None are taken from the session that uses the loader, or else loaded from the user's files.

    Args:
        cwd: The project's folder.
        agent_dir: The user's agent directory.
        settings: The settings with the lists ``skills``, ``prompts`` and ``themes`` and the trust in the project.
        host: The plugin host, where kinds are registered.
        no_skills: Use only ``additional_skill_paths``; the next two options have the same meaning for their kinds.
        no_context_files: Ignore AGENTS.md and CLAUDE.md.
        additional_skill_paths: Additional files and folders, searched before all others; likewise for the next two.
        additional_source: Origin of these paths: ``sdk``, or ``cli`` for the command line.
        skills_override: Called with the skills that were found; returns the skills to use. Likewise for the next three.
        system_prompt: Replaces pi's own system prompt.
        append_system_prompt: Additional paragraphs of the system prompt.
        environ: Environment variables; None uses the environment of the process.
    """

    def __init__(
        self,
        *,
        cwd: str | Path | None = None,
        agent_dir: str | Path | None = None,
        settings: Settings | None = None,
        host: PluginHost | None = None,
        no_skills: bool = False,
        no_prompt_templates: bool = False,
        no_themes: bool = False,
        no_context_files: bool = False,
        additional_skill_paths: Sequence[str] = (),
        additional_prompt_template_paths: Sequence[str] = (),
        additional_theme_paths: Sequence[str] = (),
        additional_source: str = "sdk",
        skills_override: Override | None = None,
        prompts_override: Override | None = None,
        themes_override: Override | None = None,
        agents_files_override: Override | None = None,
        system_prompt: str | None = None,
        append_system_prompt: Sequence[str] = (),
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self._only_explicit = {
            "skill": no_skills,
            "prompt": no_prompt_templates,
            "theme": no_themes,
            "context": no_context_files,
        }
        additional = {
            "skill": additional_skill_paths,
            "prompt": additional_prompt_template_paths,
            "theme": additional_theme_paths,
        }
        self._explicit_paths = {
            kind: [(os.fspath(path), additional_source) for path in additional[kind]] for kind in additional
        }
        self.system_prompt = system_prompt
        self.append_system_prompt = tuple(append_system_prompt)
        self.on_problem: Callable[[ResourceProblem], None] | None = None
        """Called with each problem, once."""
        self._overrides = {
            "skill": skills_override,
            "prompt": prompts_override,
            "theme": themes_override,
            "context": agents_files_override,
        }
        self._cwd, self._agent_dir = cwd, agent_dir
        self._settings, self._host = settings, host
        self._environ = environ
        self._loaders: dict[str, KindLoader] = {}
        self._overridden_sets: dict[str, tuple[ResourceSet, ResourceSet]] = {}
        self._plugin_paths: dict[str, list[tuple[str, str]]] = {}
        self._reported: set[ResourceProblem] = set()

    def use(self, *, cwd: Path, settings: Settings, host: PluginHost) -> None:
        """Set the arguments that were None when the loader was created."""
        self._cwd = self._cwd or cwd
        self._settings = self._settings or settings
        self._host = self._host or host

    def kinds(self) -> list[str]:
        """Return the names of all registered kinds."""
        return list(
            dict.fromkeys([*self._get_host().owners("register_resource_kinds"), *self._directly_registered(), "theme"])
        )

    async def load(self, kind: str) -> ResourceSet:
        """Return all resources of a kind; see ``ResourceLoader``. Files are read in a worker thread."""
        loader = self._loaders.get(kind) or self._create_loader(kind)
        if loader is None:
            return self._overridden(kind, ResourceSet(kind=kind))
        context = self._search_context(kind)
        if loader.is_empty(context):
            return self._overridden(kind, loader.latest)
        found = await asyncio.get_running_loop().run_in_executor(None, loader.load, context)
        self._report_problems(found)
        return self._overridden(kind, found)

    def extend(self, kind: str, paths: Iterable[str], plugin: str) -> None:
        """Add a plugin's paths to the paths to search."""
        known = self._plugin_paths.setdefault(kind, [])
        known += [(path, plugin) for path in paths if (path, plugin) not in known]

    async def reload(self) -> None:
        """Discard the resources that were read and the paths that plugins added."""
        self._loaders.clear()
        self._plugin_paths.clear()
        self._reported.clear()

    # Inside

    def _create_loader(self, kind: str) -> KindLoader | None:
        found = self._find_kind(kind)
        if found is None:
            return None
        loader = self._loaders[kind] = KindLoader(*found)
        return loader

    def _find_kind(self, name: str) -> tuple[ResourceKind, ContentCache] | None:
        """Return a kind and its cache, which is valid for one version of the plugin that reads the kind."""
        host = self._get_host()
        found = host.find("register_resource_kinds", name)
        if found is None:
            if name != "theme":
                return None
            from pi_core.resources.themes import theme_kind

            return theme_kind(), ContentCache(None)
        kind: ResourceKind = found.thing
        record = host.records.get(found.plugin)
        if record is None or not kind.keep:  # a directly registered plugin has no version
            return kind, ContentCache(None)
        file = self._get_settings().agent_dir / "cache" / "resources" / f"{name}.json"
        return kind, ContentCache(file, f"{found.plugin} {record.version} {max(record.files.values(), default=0)}")

    def _directly_registered(self) -> list[str]:
        return [each.name for each in self._get_host().registrations("register_resource_kinds")]

    def _search_context(self, kind: str) -> SearchContext:
        settings = self._get_settings()
        cwd = os.path.abspath(self._cwd or os.getcwd())
        trust = settings.trust_of(cwd)
        extensions = self._get_host().extensions
        return SearchContext(
            cwd=cwd,
            agent_dir=os.path.abspath(self._agent_dir or settings.agent_dir),
            home=str(home_dir(self._environ)),
            project_trusted=trust.is_trusted,
            trust_decided=trust.decided,
            settings=settings,
            explicit_paths=self._explicit_paths.get(kind, ()),
            run_paths=extensions.resources if extensions is not None else {},
            plugin_paths=self._plugin_paths.get(kind, ()),
            only_explicit=self._only_explicit.get(kind, False),
        )

    def _get_settings(self) -> Settings:
        if self._settings is None:
            from pi_core.settings import Settings

            self._settings = Settings.load(self._cwd or Path.cwd(), self._agent_dir, environ=self._environ)
        return self._settings

    def _get_host(self) -> PluginHost:
        if self._host is None:
            from pi_core.host import PluginHost

            self._host = PluginHost(self._get_settings())
        return self._host

    def _report_problems(self, found: ResourceSet) -> None:
        for problem in found.problems:
            if problem not in self._reported:
                self._reported.add(problem)
                if self.on_problem is not None:
                    self.on_problem(problem)

    def _overridden(self, kind: str, found: ResourceSet) -> ResourceSet:
        """Return the result of the program's override for a set; the result is cached for this set."""
        override = self._overrides.get(kind)
        if override is None:
            return found
        known = self._overridden_sets.get(kind)
        if known is None or known[0] is not found:
            known = self._overridden_sets[kind] = found, override(found)
        return known[1]
