"""A home folder, an agent directory, a project, and a loader for them with one custom kind, ``note``."""

from __future__ import annotations

import pytest
from attrs import define, field

from pi_core import DefaultResourceLoader, PluginHost, Settings
from pi_hookspecs import ResourceContent, ResourceKind, hookimpl


@define(eq=False)
class Notes:
    """A plugin with a kind whose files begin with their name; those that begin with ``!`` are none."""

    how: dict = field(factory=dict)
    read: list = field(factory=list)

    @hookimpl
    def register_resource_kinds(self):
        how = {"folder": "notes", "shared_folder": True, "recursive": True, "accepts": accepts, **self.how}
        return [ResourceKind("note", read=self._read, **how)]

    def _read(self, file, text):
        self.read.append(file.path)
        if text.startswith("!"):
            raise ValueError("no note")
        return ResourceContent(name=text.partition("\n")[0], description=f"{len(text)}")


def accepts(name, depth):
    return name == "NOTE.md" or (depth == 0 and name.endswith(".md"))


@define(eq=False)
class World:
    """Where things are, and how a loader over them is made."""

    home: object
    agent: object
    project: object
    notes: Notes = field(factory=Notes)

    def write(self, path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def loader(self, *, trusted=False, settings=None, environ=None, **options):
        settings = settings or Settings.load(self.project, self.agent, trust=trusted, environ={"HOME": str(self.home)})
        host = PluginHost(settings, installed=False)
        host.add(self.notes, "notes")
        environ = {"HOME": str(self.home), **(environ or {})}
        return DefaultResourceLoader(cwd=self.project, settings=settings, host=host, environ=environ, **options)

    async def names(self, **options):
        found = await self.loader(**options).load("note")
        return [each.name for each in found.resources]


@pytest.fixture
def world(tmp_path):
    made = World(tmp_path / "home", tmp_path / "home" / ".pi" / "agent", tmp_path / "home" / "work" / "project")
    made.agent.mkdir(parents=True)
    made.project.mkdir(parents=True)
    return made
