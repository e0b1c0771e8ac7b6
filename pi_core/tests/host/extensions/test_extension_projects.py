"""A plugin's project runs from where it lies: its folder, or its package, given with -e or in the settings."""

from __future__ import annotations

import os
import sys
from textwrap import dedent

import pytest

INIT = """
from pi_hookspecs import Command, hookimpl

@hookimpl
def register_commands():
    from {module}._answer import ANSWER

    return [Command(ANSWER, handler=lambda args, ctx: None)]
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Write a project and return its folder; the import path and modules are put back."""
    monkeypatch.setattr(sys, "path", list(sys.path))

    def write(module, answer="first", *, name="acme", src="src", dependencies=(), entry=None):
        folder = tmp_path / "projects" / name
        package = folder / src / module
        package.mkdir(parents=True, exist_ok=True)
        (package / "__init__.py").write_text(dedent(INIT.format(module=module)))
        (package / "_answer.py").write_text(f"ANSWER = {answer!r}\n")
        (folder / "pyproject.toml").write_text(
            f"[project]\nname = 'pluggypi-{name}'\ndependencies = {list(dependencies)!r}\n"
            f"[project.entry-points.pi]\n{entry or f'{name} = {module!r}'}\n"
        )
        return folder

    before = set(sys.modules)
    yield write
    for each in set(sys.modules) - before:
        del sys.modules[each]


async def commands(session):
    return [each.name for each in await session.get_commands()]


@pytest.mark.parametrize("src", ["src", "."], ids=["src", "flat"])
@pytest.mark.parametrize("given", ["folder", "package"])
async def test_a_project_that_imports_itself_by_name_is_loaded(folders, start, project, src, given):
    module = f"pi_whole_{given}_{'src' if src == 'src' else 'flat'}"
    folder = project(module, src=src)
    host = folders.host(given=[folder if given == "folder" else folder / src / module])
    session = await start(host)

    assert (host.added(), host.problems) == (["acme", "script"], [])
    assert await commands(session) == ["first"]


async def test_a_reload_runs_the_new_version_of_all_its_modules(folders, start, project):
    folder = project("pi_reloaded")
    session = await start(folders.host(given=[folder]))
    project("pi_reloaded", "second")
    os.utime(folder / "src" / "pi_reloaded" / "_answer.py", ns=(1, 1))

    await session.reload()

    assert await commands(session) == ["second"]


async def test_a_version_with_an_error_does_not_replace_the_one_that_runs(folders, start, project, recorder):
    folder = project("pi_broken_later")
    session = await start(folders.host(given=[folder]))
    (folder / "src" / "pi_broken_later" / "__init__.py").write_text("raise RuntimeError('half done')\n")

    await session.reload()

    assert await commands(session) == ["first"]
    assert "half done" in recorder.of("extension_error")[0].error
    assert sys.modules["pi_broken_later"].register_commands


def test_every_entry_point_of_a_project_is_a_plugin(folders, project):
    entry = "one = 'pi_two_in_one'\ntwo = 'pi_two_in_one._answer:PLUGIN'"
    folder = project("pi_two_in_one", entry=entry)
    with (folder / "src" / "pi_two_in_one" / "_answer.py").open("a") as file:
        file.write(
            "class Plugin:\n    from pi_hookspecs import hookimpl\n    @hookimpl\n    def turn_start(self): ...\n"
        )
        file.write("PLUGIN = Plugin()\n")

    host = folders.host(given=[folder])

    assert (host.added(), host.problems) == (["one", "two"], [])


def test_a_project_for_another_version_of_pi_is_not_run(folders, project):
    host = folders.host(given=[project("pi_for_later", dependencies=["pluggypi-hookspecs>=99"])])

    assert host.added() == []
    assert "not loaded: it needs pluggypi-hookspecs>=99, and" in str(host.problems[0])
    assert "pi_for_later" not in sys.modules


def test_what_a_project_needs_and_pi_has_is_not_installed(folders, project):
    needs = ["attrs>=20", "pluggypi-hookspecs>=1,<99", "no-such-package; python_version < '3'"]
    host = folders.host(given=[project("pi_needs_little", dependencies=needs)], environ={"PATH": "", "HOME": "/"})

    assert (host.added(), host.problems) == (["acme"], [])


def test_a_module_that_is_installed_is_not_run_in_its_place(folders, project):
    host = folders.host(given=[project("pi_tools")])

    assert host.added() == []
    assert "a module 'pi_tools' is already installed" in str(host.problems[0])


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ("[project", "is not TOML"),
        ("[project.entry-points.pi]\nacme = 'pi_not_there'\n", "neither src/pi_not_there nor pi_not_there exists"),
        ("[project]\nname = 'x'\n", "nor a pyproject.toml with entry points in group 'pi'"),
    ],
    ids=["toml", "module", "no plugin"],
)
def test_a_project_that_cannot_be_run_is_a_problem(folders, project, toml, message):
    folder = project("pi_never_imported")
    (folder / "pyproject.toml").write_text(toml)

    host = folders.host(given=[folder])

    assert host.added() == []
    assert message in str(host.problems[0])


def test_a_package_outside_of_any_project_is_an_extension_as_before(folders):
    folders.write("pack/__init__.py", "def activate(pi): ...\n")
    host = folders.host(given=[folders.agent_dir / "extensions" / "pack"], discover=False)

    assert (host.added(), host.problems) == (["pack"], [])
