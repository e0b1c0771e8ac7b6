"""Extensions in TypeScript and JavaScript: which files they are, by which names, and what runs them."""

from __future__ import annotations

import json

import pytest

from pi_core.host import PluginHost
from pi_core.host.extensions.local import LocalExtensions
from pi_core.host.extensions.places import find_extensions
from pi_core.host.extensions.program_index import ProgramIndex
from pi_core.host.extensions.scripts import name_of_script
from pi_core.settings import Settings
from pi_hookspecs import PluginManifest, UserError, hookimpl


@pytest.fixture
def place(tmp_path):
    """A project's folder and an agent directory."""
    (tmp_path / "project" / ".pi" / "extensions").mkdir(parents=True)
    (tmp_path / "agent" / "extensions").mkdir(parents=True)
    return tmp_path


def settings_of(place, *, trusted=True):
    return Settings.in_memory({}, agent_dir=place / "agent", trust=trusted)


def write(folder, **files):
    for name, text in files.items():
        file = folder / name.replace("__", "/").replace("_dot_", ".")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def test_files_folders_and_packages_are_found_by_the_rules_of_the_original(place):
    package = json.dumps({"name": "@sea/tides", "pi": {"extensions": ["./src/ebb.ts", "src/flood.ts", "../out.ts"]}})
    one = json.dumps({"name": "moon", "pi": {"extensions": ["main.js"]}})
    write(
        place / "agent" / "extensions",
        guard_dot_ts="",
        plain_dot_js="",
        module_dot_mjs="",
        types_dot_d_dot_ts="",
        _hidden_dot_ts="",
        note_dot_md="",
        todo_dot_py="",
        folder__index_dot_ts="",
        folder__other_dot_ts="",
        tides__package_dot_json=package,
        tides__src__ebb_dot_ts="",
        tides__src__flood_dot_ts="",
        moon__package_dot_json=one,
        moon__main_dot_js="",
        renamed__package_dot_json=json.dumps({"pi": {"extensions": ["gone.ts"]}}),
        renamed__index_dot_ts="",
        text__package_dot_json=json.dumps({"pi": {"extensions": "index.ts"}}),
        text__index_dot_ts="",
        list__package_dot_json="[]",
        list__index_dot_js="",
        empty__readme_dot_md="",
    )
    write(place / "agent", out_dot_ts="")
    (place / "agent" / "extensions" / "python").mkdir()
    (place / "agent" / "extensions" / "python" / "__init__.py").touch()

    found, problems = find_extensions(place / "project", settings_of(place), [], discover=True)

    assert {each.name for each in found} == {
        "guard", "plain", "module", "todo", "folder", "tides-ebb", "tides-flood", "moon", "python",
        "renamed", "text", "list",
    }  # fmt: skip
    assert {each.name for each in found if each.script is None} == {"todo", "python"}
    assert problems == []


@pytest.mark.parametrize(
    ("declared", "files", "names"),
    [
        (["./extensions/tides/index.ts", "./extensions/tides-log/index.ts", "./moon/index.ts"], (), "- -log -moon"),
        (["./extensions"], ("extensions/ebb.ts", "extensions/flood.ts"), "-ebb -flood"),
        (["./extensions"], ("extensions/ebb.ts",), "-"),
        (["./src/index.ts", "./more.ts"], (), "- -more"),
    ],
)
def test_each_extension_of_a_package_has_a_name_of_its_own(tmp_path, declared, files, names):
    manifest = json.dumps({"name": "@sea/pi-tides", "pi": {"extensions": declared}})
    write(tmp_path, package_dot_json=manifest, **dict.fromkeys([each.replace("/", "__") for each in files], ""))

    found = [name_of_script(tmp_path / each) for each in files or declared]

    assert found == [f"pi-tides{end.rstrip('-')}" if end == "-" else f"pi-tides{end}" for end in names.split()]


def test_files_of_a_project_that_is_not_trusted_are_not_even_listed(place):
    write(place / "project" / ".pi" / "extensions", guard_dot_ts="")

    for is_trusted, names in ((False, []), (True, ["guard"])):
        settings = settings_of(place, trusted=is_trusted)
        found, _ = find_extensions(place / "project", settings, [], discover=True)
        assert [each.name for each in found] == names


class Language:
    suffixes = (".ts",)

    def __init__(self, problem=""):
        self.problem = problem

    def manifest_of(self, file, name, settings):
        if self.problem:
            raise UserError(self.problem)
        return PluginManifest(
            name=name, command=["x"], contract="1.1", folder=file.parent, agent_dir=settings.agent_dir, entry=file
        )


class Runner:
    def load_plugin(self, manifest, report):
        return Loaded(manifest)


class Loaded:
    def __init__(self, manifest):
        self.manifest = manifest

    @hookimpl
    def activate(self, pi):
        """Register nothing."""


def load(place, *services):
    """Return a host with services after it has loaded the extensions of a folder."""

    class Services:
        @hookimpl
        def register_services(self):
            return services

    host = PluginHost(settings_of(place), installed=False)
    host.add(Services(), "services")
    LocalExtensions(host, cwd=place / "project").load()
    return host


def test_a_plugin_says_which_program_runs_a_file_and_another_runs_it(place):
    write(place / "agent" / "extensions", guard_dot_ts="")

    host = load(place, Language(), Runner())

    assert host.problems == []
    assert host.has("guard")


def test_without_a_plugin_that_runs_such_files_they_are_reported_and_what_refused_refuses(place):
    write(place / "agent" / "extensions", guard_dot_ts="", other_dot_ts="")
    file = place / "agent" / "extensions" / "guard.ts"
    ProgramIndex(place / "agent", file.parent, file).write({"hooks": {"tool_call": {}}, "registers": {}})

    for services, why in (((), "pluggypi-typescript"), ((Language("no Node.js"), Runner()), "no Node.js")):
        host = load(place, *services)
        said = {each.plugin: each.message for each in host.problems}
        assert why in said["other"]
        assert "It refuses in tool_call until it is fixed or disabled: --disable guard" in said["guard"]
        assert (host.has("guard"), host.has("other")) == (True, False)


def test_what_a_file_registers_is_known_until_its_contents_or_those_that_it_loads_change(place):
    write(place, main_dot_ts="one", part_dot_ts="two", other_dot_ts="three")
    index = ProgramIndex(place / "agent", place, place / "main.ts")
    index.write({"hooks": {}, "registers": {}, "files": [str(place / "main.ts"), str(place / "part.ts")]})

    def is_fresh_after(name, text):
        (place / name).write_text(text)
        return ProgramIndex(place / "agent", place, place / "main.ts").is_fresh()

    assert is_fresh_after("main.ts", "one")
    assert is_fresh_after("other.ts", "changed")
    assert not is_fresh_after("part.ts", "changed")
    assert is_fresh_after("part.ts", "two")
    assert not is_fresh_after("main.ts", "changed")
