"""``DefaultResourceLoader``: every kind of resource of a session, with the options of document 001."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import field, frozen

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

__all__ = ["DefaultResourceLoader", "ResourceOptions"]


@frozen(kw_only=True)
class ResourceOptions:
    """What a user or a program says about the resources of one run (document 001).

    Attributes:
        no_skills: Only the skills in ``skill_paths`` count; the next two likewise.
        no_context_files: No AGENTS.md and CLAUDE.md.
        skill_paths: Further files and folders, before all others.
        source: Who says so: ``cli``, or ``sdk`` for a program.
    """

    no_skills: bool = False
    no_prompt_templates: bool = False
    no_themes: bool = False
    no_context_files: bool = False
    skill_paths: Sequence[str] = ()
    prompt_template_paths: Sequence[str] = ()
    theme_paths: Sequence[str] = ()
    source: str = "sdk"

    def only_given(self, kind: str) -> bool:
        """Whether nothing of a kind is looked for but what was given."""
        return {
            "skill": self.no_skills,
            "prompt": self.no_prompt_templates,
            "theme": self.no_themes,
            "context": self.no_context_files,
        }.get(kind, False)

    def given(self, kind: str) -> list[tuple[str, str]]:
        """Return the paths of a kind that were given, with their source."""
        paths = {"skill": self.skill_paths, "prompt": self.prompt_template_paths, "theme": self.theme_paths}
        return [(os.fspath(path), self.source) for path in paths.get(kind, ())]


@frozen(eq=False)
class _Loaded:
    """A kind that was loaded once: its loader, and what the program's override made of its latest answer."""

    loader: KindLoader
    overridden: dict[ResourceSet, ResourceSet] = field(factory=dict)


class DefaultResourceLoader:
    """Finds skills, prompt templates, themes, context files and the kinds of plugins; implements ``ResourceLoader``.

    What is left out here comes from the session that the loader is given to, or else from the files.

    Args:
        cwd: The project's folder.
        agent_dir: The user's own files.
        settings: Their arrays ``skills``, ``prompts``, ``themes`` count, and whether the project is trusted.
        host: Plugins that register kinds.
        options: See ``ResourceOptions``; the keywords below are the same, one by one.
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
        options: ResourceOptions | None = None,
        no_skills: bool = False,
        no_prompt_templates: bool = False,
        no_themes: bool = False,
        no_context_files: bool = False,
        additional_skill_paths: Sequence[str] = (),
        additional_prompt_template_paths: Sequence[str] = (),
        additional_theme_paths: Sequence[str] = (),
        skills_override: Override | None = None,
        prompts_override: Override | None = None,
        themes_override: Override | None = None,
        agents_files_override: Override | None = None,
        system_prompt: str | None = None,
        append_system_prompt: Sequence[str] = (),
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self.options = options or ResourceOptions(
            no_skills=no_skills,
            no_prompt_templates=no_prompt_templates,
            no_themes=no_themes,
            no_context_files=no_context_files,
            skill_paths=tuple(additional_skill_paths),
            prompt_template_paths=tuple(additional_prompt_template_paths),
            theme_paths=tuple(additional_theme_paths),
        )
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
        self._loaded: dict[str, _Loaded] = {}
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
        loaded = self._loaded.get(kind) or self._start(kind)
        if loaded is None:
            return ResourceSet(kind=kind)
        situation = self._situation(kind)
        if loaded.loader.is_elsewhere(situation):
            found = ResourceSet(kind=kind)
        else:
            found = await asyncio.get_running_loop().run_in_executor(None, loaded.loader.look, situation)
        self._tell(found)
        return self._overridden(kind, found, loaded)

    def extend(self, kind: str, paths: Iterable[str], plugin: str) -> None:
        """Look in further paths, which a plugin named."""
        known = self._extended.setdefault(kind, [])
        known += [(path, plugin) for path in paths if (path, plugin) not in known]

    async def reload(self) -> None:
        """Forget what was read, and which paths plugins named."""
        self._loaded.clear()
        self._extended.clear()
        self._told.clear()

    # Inside

    def _start(self, kind: str) -> _Loaded | None:
        found = self._kind(kind)
        if found is None:
            return None
        loaded = self._loaded[kind] = _Loaded(KindLoader(*found))
        return loaded

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
        environ = os.environ if self._environ is None else self._environ
        return Situation(
            cwd=os.path.abspath(self._cwd or os.getcwd()),
            agent_dir=os.path.abspath(self._agent_dir or settings.agent_dir),
            home=environ.get("HOME") or os.path.expanduser("~"),
            project_trusted=getattr(getattr(settings, "project_trust", None), "is_trusted", False),  # INTERIM
            settings=settings,
            given=self.options.given(kind),
            extended=self._extended.get(kind, ()),
            only_given=self.options.only_given(kind),
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

    def _overridden(self, kind: str, found: ResourceSet, loaded: _Loaded) -> ResourceSet:
        override = self._overrides.get(kind)
        if override is None:
            return found
        if found not in loaded.overridden:
            loaded.overridden.clear()
            loaded.overridden[found] = override(found)
        return loaded.overridden[found]
