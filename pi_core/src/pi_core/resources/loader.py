"""``DefaultResourceLoader``: every kind of resource of a session, with the options of pi's SDK."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING

from pi_core.base.paths import home_dir
from pi_core.resources.cache import KeptContents
from pi_core.resources.looking import KindLoader
from pi_core.resources.places import Situation
from pi_hookspecs.resources import ResourceSet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pi_core.host import PluginHost
    from pi_core.settings import Settings
    from pi_hookspecs.resources import ResourceKind, ResourceProblem

    Override = Callable[[ResourceSet], ResourceSet]

__all__ = ["DefaultResourceLoader"]


class DefaultResourceLoader:
    """Finds skills, prompt templates, themes, context files and the kinds of plugins; implements ``ResourceLoader``.

    What is left out here comes from the session that the loader is given to, or else from the files.

    Args:
        cwd: The project's folder.
        agent_dir: The user's own files.
        settings: Their arrays ``skills``, ``prompts``, ``themes`` count, and whether the project is trusted.
        host: Plugins that register kinds.
        no_skills: Only ``additional_skill_paths`` count; the next two likewise.
        no_context_files: No AGENTS.md and CLAUDE.md.
        additional_skill_paths: Further files and folders, before all others; the next two likewise.
        additional_source: Who gave them: ``sdk``, or ``cli`` for the command line.
        skills_override: Turns the skills that were found into those that count; the next three likewise.
        system_prompt: Stands in place of pi's own.
        append_system_prompt: Further paragraphs.
        environ: Environment variables; by default the process's.
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
        self._only_given = {
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
        self._given = {kind: [(os.fspath(path), additional_source) for path in additional[kind]] for kind in additional}
        self.system_prompt = system_prompt
        self.append_system_prompt = tuple(append_system_prompt)
        self.on_problem: Callable[[ResourceProblem], None] | None = None
        """Told of each problem, once."""
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
        self._extended: dict[str, list[tuple[str, str]]] = {}
        self._told: set[ResourceProblem] = set()

    def use(self, *, cwd: Path, settings: Settings, host: PluginHost) -> None:
        """Take from a session what was left out when the loader was made."""
        self._cwd = self._cwd or cwd
        self._settings = self._settings or settings
        self._host = self._host or host

    def kinds(self) -> list[str]:
        """Return the names of all kinds that somebody can read."""
        return list(dict.fromkeys([*self._plugins().owners("register_resource_kinds"), *self._added(), "theme"]))

    async def load(self, kind: str) -> ResourceSet:
        """Return everything of a kind, see ``ResourceLoader``; files are read in a worker thread."""
        loader = self._loaders.get(kind) or self._loader(kind)
        if loader is None:
            return self._overridden(kind, ResourceSet(kind=kind))
        situation = self._situation(kind)
        if loader.is_elsewhere(situation):
            return self._overridden(kind, loader.latest)
        found = await asyncio.get_running_loop().run_in_executor(None, loader.look, situation)
        self._tell(found)
        return self._overridden(kind, found)

    def extend(self, kind: str, paths: Iterable[str], plugin: str) -> None:
        """Look in further paths, which a plugin named."""
        known = self._extended.setdefault(kind, [])
        known += [(path, plugin) for path in paths if (path, plugin) not in known]

    async def reload(self) -> None:
        """Forget what was read, and which paths plugins named."""
        self._loaders.clear()
        self._extended.clear()
        self._told.clear()

    # Inside

    def _loader(self, kind: str) -> KindLoader | None:
        found = self._kind(kind)
        if found is None:
            return None
        loader = self._loaders[kind] = KindLoader(*found)
        return loader

    def _kind(self, name: str) -> tuple[ResourceKind, KeptContents] | None:
        """Return a kind, and where what it reads is kept: under the version of the plugin that reads it."""
        host = self._plugins()
        found = host.find("register_resource_kinds", name)
        if found is None:
            if name != "theme":
                return None
            from pi_core.resources.themes import theme_kind

            return theme_kind(), KeptContents(None)
        kind: ResourceKind = found.thing
        record = host.records.get(found.plugin)
        if record is None or not kind.keep:  # nobody could tell when a plugin that was added by hand changes
            return kind, KeptContents(None)
        file = self._known_settings().agent_dir / "cache" / "resources" / f"{name}.json"
        return kind, KeptContents(file, f"{found.plugin} {record.version} {max(record.files.values(), default=0)}")

    def _added(self) -> list[str]:
        return [each.name for each in self._plugins().registrations("register_resource_kinds")]

    def _situation(self, kind: str) -> Situation:
        settings = self._known_settings()
        cwd = os.path.abspath(self._cwd or os.getcwd())
        trust = settings.trust_of(cwd)
        return Situation(
            cwd=cwd,
            agent_dir=os.path.abspath(self._agent_dir or settings.agent_dir),
            home=str(home_dir(self._environ)),
            project_trusted=trust.is_trusted,
            trust_decided=trust.decided,
            settings=settings,
            given=self._given.get(kind, ()),
            extended=self._extended.get(kind, ()),
            only_given=self._only_given.get(kind, False),
        )

    def _known_settings(self) -> Settings:
        if self._settings is None:
            from pi_core.settings import Settings

            self._settings = Settings.load(self._cwd or Path.cwd(), self._agent_dir, environ=self._environ)
        return self._settings

    def _plugins(self) -> PluginHost:
        if self._host is None:
            from pi_core.host import PluginHost

            self._host = PluginHost(self._known_settings())
        return self._host

    def _tell(self, found: ResourceSet) -> None:
        for problem in found.problems:
            if problem not in self._told:
                self._told.add(problem)
                if self.on_problem is not None:
                    self.on_problem(problem)

    def _overridden(self, kind: str, found: ResourceSet) -> ResourceSet:
        """Return what the program makes of a set; asked anew when the set is another one."""
        override = self._overrides.get(kind)
        if override is None:
            return found
        known = self._overridden_sets.get(kind)
        if known is None or known[0] is not found:
            known = self._overridden_sets[kind] = found, override(found)
        return known[1]
