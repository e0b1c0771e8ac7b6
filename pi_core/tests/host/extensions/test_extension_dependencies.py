"""What an extension needs is installed with uv into the cache; without uv or a network the reason is reported."""

from __future__ import annotations

import os
import shutil
import stat
import sys
import zipfile

import pytest

from pi_core.host.extensions.dependencies import install, is_here
from pi_core.host.extensions.needs import dependencies_of
from pi_hookspecs import UserError
from pi_testing import for_each

USES = """
# /// script
# requires-python = ">=3.11"
# dependencies = ["{requirement}"]
# ///
import {module}

def activate(pi):
    pi.register_command({module}.NAME, lambda args, ctx: None)
"""


def wheel(folder, name, files, entry_points=""):
    """Write a wheel without a build."""
    path = folder / f"{name}-1.0-py3-none-any.whl"
    info = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        for file, content in files.items():
            archive.writestr(file, content)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        if entry_points:
            archive.writestr(f"{info}/entry_points.txt", entry_points)
        archive.writestr(f"{info}/RECORD", "")
    return path


@pytest.fixture
def imports(monkeypatch):
    """The import path is put back."""
    monkeypatch.setattr(sys, "path", list(sys.path))


@pytest.fixture
def offline(monkeypatch):
    monkeypatch.setenv("UV_OFFLINE", "1")


@pytest.mark.skipif(shutil.which("uv") is None, reason="needs uv")
@pytest.mark.usefixtures("imports", "offline")
async def test_a_dependency_is_installed_once_and_found(folders, start):
    made = wheel(folders.cwd, "needed_by_a_test", {"needed_by_a_test.py": "NAME = 'needed'\n"})
    requirement = f"needed_by_a_test @ {made.as_uri()}"
    folders.write("uses.py", USES.format(requirement=requirement, module="needed_by_a_test"))
    messages = []
    session = await start(folders.host(say=messages.append))
    folders.host(say=messages.append)

    assert [each.name for each in await session.get_commands()] == ["needed"]
    assert messages == [f"Installing {requirement}"]
    assert [each for each in sys.path if "cache/extensions" in each] == [sys.path[-1]]


@pytest.mark.skipif(shutil.which("uv") is None, reason="needs uv")
@pytest.mark.usefixtures("imports", "offline")
async def test_a_requirement_of_this_run_brings_its_plugin(folders, start):
    code = "from pi_hookspecs import hookimpl\n@hookimpl\ndef activate(pi):\n    pi.register_command('rented', print)\n"
    made = wheel(folders.cwd, "rented_plugin", {"rented_plugin.py": code}, "[pi]\nrented = rented_plugin\n")
    session = await start(folders.host(given=[f"rented_plugin @ {made.as_uri()}"]))

    assert session.host.added() == ["rented", "script"]
    assert [each.name for each in await session.get_commands()] == ["rented"]


@pytest.mark.skipif(shutil.which("uv") is None, reason="needs uv")
@pytest.mark.usefixtures("imports", "offline")
def test_a_distribution_without_a_plugin_is_reported(folders):
    made = wheel(folders.cwd, "no_plugin_at_all", {"no_plugin_at_all.py": ""})
    host = folders.host(given=[f"no_plugin_at_all @ {made.as_uri()}"])

    assert "has no entry point in group 'pi'" in str(host.problems[0])


@pytest.mark.skipif(shutil.which("uv") is None, reason="needs uv")
@pytest.mark.usefixtures("imports", "offline")
def test_without_a_network_the_reason_is_reported_and_the_rest_works(folders, command):
    folders.write("uses.py", USES.format(requirement="no-such-distribution-anywhere>=7", module="nothing"))
    folders.write("good.py", command("good"))
    host = folders.host()

    assert host.added() == ["good"]
    assert "uv cannot install what it needs" in str(host.problems[0])
    assert list((folders.agent_dir / "cache" / "extensions").iterdir()) == []


def test_without_uv_it_says_what_to_install(folders, tmp_path):
    folders.write("uses.py", USES.format(requirement="no-such-distribution-anywhere", module="nothing"))
    host = folders.host(environ={"PATH": str(tmp_path), "HOME": str(tmp_path)})

    assert "it needs no-such-distribution-anywhere, and uv" in str(host.problems[0])


def test_what_pi_has_anyway_is_not_installed(tmp_path):
    assert is_here("attrs")
    assert install(["attrs"], tmp_path, print, {"PATH": ""}) is None


@pytest.mark.skipif(os.name != "posix", reason="a script stands in for uv")
def test_an_installation_that_was_cut_off_is_not_used(tmp_path):
    (tmp_path / "bin").mkdir()
    uv = tmp_path / "bin" / "uv"
    uv.write_text(
        '#!/bin/sh\nwhile [ "$1" != --target ]; do shift; done\n'
        '/bin/mkdir -p "$2"\necho half > "$2/half"\necho boom >&2\nexit 3\n'
    )
    uv.chmod(uv.stat().st_mode | stat.S_IXUSR)
    with pytest.raises(UserError, match="boom"):
        install(["half-a-distribution"], tmp_path / "cache", print, {"PATH": str(tmp_path / "bin")})

    assert list((tmp_path / "cache").iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="a script stands in for uv")
@pytest.mark.parametrize(("pi_offline", "uv_offline"), [("1", "1"), ("0", "no"), ("", "no"), (None, "no")])
def test_offline_uv_fetches_nothing(tmp_path, pi_offline, uv_offline):
    (tmp_path / "bin").mkdir()
    uv = tmp_path / "bin" / "uv"
    uv.write_text('#!/bin/sh\necho "offline: ${UV_OFFLINE:-no}" >&2\nexit 3\n')
    uv.chmod(uv.stat().st_mode | stat.S_IXUSR)
    environ = {"PATH": str(tmp_path / "bin")} | ({} if pi_offline is None else {"PI_OFFLINE": pi_offline})

    with pytest.raises(UserError, match=f"offline: {uv_offline}"):
        install(["no-such-distribution-anywhere"], tmp_path / "cache", print, environ)


@pytest.mark.skipif(shutil.which("uv") is None, reason="needs uv")
@pytest.mark.usefixtures("offline")
def test_a_project_does_not_choose_where_a_requirement_comes_from(tmp_path, monkeypatch):
    project, wheels = tmp_path / "project", tmp_path / "project" / "wheels"
    wheels.mkdir(parents=True)
    wheel(wheels, "name_that_a_project_wants_to_bring", {"hostile.py": ""})
    found = f'find-links = ["{wheels.as_posix()}"]\nno-index = true\n'
    (project / "uv.toml").write_text(found + f"[pip]\n{found}")
    (project / "pyproject.toml").write_text(f"[tool.uv]\n{found}[tool.uv.pip]\n{found}")
    (project / "pip.conf").write_text(f"[global]\nfind-links = {wheels}\n")
    (project / ".npmrc").write_text(f"registry={wheels.as_uri()}\n")
    monkeypatch.chdir(project)

    with pytest.raises(UserError, match="uv cannot install what it needs"):
        install(["name-that-a-project-wants-to-bring"], tmp_path / "agent" / "cache", print)


@pytest.mark.skipif(shutil.which("uv") is None, reason="needs uv")
@pytest.mark.usefixtures("offline")
def test_the_users_own_configuration_names_the_source_of_a_requirement(tmp_path, monkeypatch):
    wheels, config = tmp_path / "wheels", tmp_path / "config" / "uv"
    for folder in (wheels, config):
        folder.mkdir(parents=True)
    wheel(wheels, "name_that_a_user_brings", {"of_the_user.py": ""})
    (config / "uv.toml").write_text(f'find-links = ["{wheels.as_posix()}"]\n')
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))

    folder = install(["name-that-a-user-brings"], tmp_path / "agent" / "cache", print)

    assert folder is not None
    assert (folder / "of_the_user.py").exists()


@pytest.fixture
def spying_uv(tmp_path):
    """A folder with a program ``uv`` that says its folder and environment, and fails."""
    folder = tmp_path / "bin"
    folder.mkdir()
    uv = folder / "uv"
    uv.write_text("#!/bin/sh\npwd >&2\n/usr/bin/env >&2\nexit 3\n")
    uv.chmod(0o700)
    return folder


@pytest.mark.skipif(os.name != "posix", reason="a script stands in for uv")
@pytest.mark.parametrize(
    "variable", ["VIRTUAL_ENV", "PYTHONPATH", "PYTHONSTARTUP", "UV_PROJECT", "UV_CONSTRAINT", "UV_WORKING_DIRECTORY"]
)
def test_uv_sees_no_variable_of_the_project(tmp_path, spying_uv, variable):
    environ = {"PATH": str(spying_uv), variable: "of-the-project"}

    with pytest.raises(UserError) as failed:
        install(["no-such-distribution-anywhere"], tmp_path / "cache", print, environ)

    assert "of-the-project" not in str(failed.value)
    assert "PATH=" in str(failed.value)


@pytest.mark.skipif(os.name != "posix", reason="a script stands in for uv")
def test_uv_keeps_the_user_s_variables(tmp_path, spying_uv):
    environ = {"PATH": str(spying_uv), "UV_INDEX_URL": "https://packages.example"}

    with pytest.raises(UserError, match=r"UV_INDEX_URL=https://packages\.example"):
        install(["no-such-distribution-anywhere"], tmp_path / "cache", print, environ)


@pytest.mark.skipif(os.name != "posix", reason="a script stands in for uv")
@pytest.mark.parametrize("path", [".", "", "bin"])
@pytest.mark.usefixtures("spying_uv")
def test_a_project_s_own_program_is_not_taken_for_uv(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path / "bin" if path != "bin" else tmp_path)

    with pytest.raises(UserError, match="and uv, which would install it, is missing"):
        install(["no-such-distribution-anywhere"], tmp_path / "cache", print, {"PATH": path})


@for_each(
    ("source", "wanted"),
    [
        ("x = 1\n", ()),
        ("# /// script\n# dependencies = ['a', 'b>=2']\n# ///\n", ("a", "b>=2")),
        ("# /// script\n#\n# dependencies = [\n#   'a',\n# ]\n# ///\nx = 1\n", ("a",)),
        ("# /// script\r\n# dependencies = ['a']\r\n# ///\r\n", ("a",)),
        ("# /// script\n# requires-python = '>=3.8'\n# ///\n", ()),
        ("# /// script\n# dependencies = ['a']\n", ()),
    ],
)
def test_the_block_is_read(source, wanted):
    assert dependencies_of(source) == wanted


@for_each(
    ("source", "message"),
    [
        ("# /// script\n# dependencies = [\n# ///\n", "is not TOML"),
        ("# /// script\n# dependencies = 'a'\n# ///\n", "must be a list of strings"),
        ("# /// script\n# dependencies = [1]\n# ///\n", "must be a list of strings"),
        ("# /// script\n# requires-python = '>=4.0'\n# ///\n", "requires Python >=4.0"),
        ("# /// script\n# a = 1\n# ///\n\n# /// script\n# a = 1\n# ///\n", "more than one"),
    ],
)
def test_an_unusable_block_is_reported(source, message):
    with pytest.raises(UserError, match=message):
        dependencies_of(source)


@pytest.mark.skipif(shutil.which("uv") is None, reason="needs uv")
@pytest.mark.usefixtures("offline")
def test_a_requirement_is_no_option_of_uv(tmp_path):
    with pytest.raises(UserError, match="cannot install"):
        install(["--help"], tmp_path, print)
