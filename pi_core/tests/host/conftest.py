"""Installs plugins as an installer leaves them: a module and a ``.dist-info`` folder on ``sys.path``."""

from __future__ import annotations

import os
import sys
import time
from itertools import count
from pathlib import Path
from textwrap import dedent
from typing import Any

import importlib_metadata
import pytest

from pi_core.host import PluginHost
from pi_core.settings import Settings

HEAD = "from pi_hookspecs import *\nfrom pi_hookspecs import hookimpl\n"

_numbers = count()

_times = count(time.time_ns(), 1_000_000_000)


class Site:
    """A folder of installed plugins, and hosts over it that leave the workspace's own plugins alone."""

    def __init__(self, folder: Path, agent_dir: Path) -> None:
        self.folder = folder
        self.agent_dir = agent_dir

    def install(
        self,
        name: str,
        source: str,
        *,
        entry: str = "",
        distribution: str = "",
        version: str = "1.0",
        folder: Any = None,
    ) -> Path:
        """Install a plugin of one module and return its file.

        Args:
            name: The entry point's name.
            source: The module; everything of the contract is imported already.
            entry: What follows the module in the entry point, ``:plugin``.
            distribution: Its name; the plugin's when not given.
            version: Its version.
            folder: Where the module is, when it is not next to the metadata, as with editable installs.
        """
        module = f"{name.replace('-', '_')}_{next(_numbers)}"
        file = Path(folder or self.folder) / f"{module}.py"
        file.write_text(HEAD + dedent(source))
        self.metadata(distribution or name, {name: module + entry}, version)
        return file

    def metadata(
        self, distribution: str, plugins: dict[str, str], version: str = "1.0", requires: tuple[str, ...] = ()
    ) -> Path:
        """Write the metadata of a distribution with these entry points and requirements."""
        info = self.folder / f"{distribution.replace('-', '_')}-{version}.dist-info"
        info.mkdir(exist_ok=True)
        needs = "".join(f"Requires-Dist: {each}\n" for each in requires)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n{needs}")
        lines = "\n".join(f"{name} = {value}" for name, value in plugins.items())
        (info / "entry_points.txt").write_text(f"[pi]\n{lines}\n")
        self._look_again()
        return info

    def host(self, *disabled: str, **settings: Any) -> PluginHost:
        """Return a new host, as another process would have it; the modules of plugins are imported anew."""
        self.forget()
        return PluginHost(Settings.in_memory(settings, self.agent_dir), disabled={*disabled})

    def forget(self) -> None:
        """Let no module of a plugin be imported."""
        for module in self.imported():
            del sys.modules[module]
        self._look_again()

    def _look_again(self) -> None:
        """Let the import system see what is here now; `invalidate_caches` would let it list all other folders, too."""
        root = str(self.folder.parent)
        for place in [each for each in sys.path_importer_cache if each.startswith(root)]:
            del sys.path_importer_cache[place]
        if self.folder.exists():  # listings of metadata are kept for a folder's time
            modified = next(_times)
            os.utime(self.folder, ns=(modified, modified))

    def imported(self) -> list[str]:
        """Return the modules of plugins that are imported."""
        root = str(self.folder.parent)
        return [
            name for name, module in sys.modules.items() if (getattr(module, "__file__", "") or "").startswith(root)
        ]


@pytest.fixture
def site(tmp_path, monkeypatch):
    """An empty folder of plugins, on ``sys.path``."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # two versions of a file within one second look the same
    folder, agent_dir = tmp_path / "site", tmp_path / "agent"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    everywhere = importlib_metadata.distributions  # to read the workspace's two hundred takes longer than most tests
    monkeypatch.setattr(
        importlib_metadata,
        "distributions",
        lambda: everywhere(path=[each for each in sys.path if each.startswith(str(tmp_path))]),
    )
    site = Site(folder, agent_dir)
    yield site
    site.forget()


@pytest.fixture
def problems():
    """Return what a host found wrong, but for the workspace's own plugins: plugin, step, message."""

    def of(host: PluginHost) -> list[tuple[str, str, str]]:
        assert host.records is not None
        return [(each.plugin, each.step, each.message) for each in host.problems]

    return of


@pytest.fixture
def tool_plugin():
    """Return the source of a plugin that registers tools by name."""

    def of(*names: str, description: str = "does") -> str:
        tools = ", ".join(
            f"Tool(name={name!r}, description={description!r}, parameters={{'type': 'object'}}, execute=run)"
            for name in names
        )
        return f"async def run(*_): ...\n\n@hookimpl\ndef register_tools():\n    return [{tools}]\n"

    return of


@pytest.fixture
def bare_host(tmp_path):
    """A host that looks at no entry points."""
    return PluginHost(Settings.in_memory({}, tmp_path / "agent"), installed=False)
