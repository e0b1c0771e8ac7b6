"""Which files are extensions, in which order, and whose."""

from __future__ import annotations

import pytest

from pi_core.host import package_resources
from pi_core.host.package_resources import PackageResource
from pi_hookspecs import UserError


def names(host):
    return host.added()


def test_files_and_packages_of_the_user_one_level_deep(folders, command):
    folders.write("b.py", command("b"))
    folders.write("a/__init__.py", command("a"))
    folders.write("deep/er/__init__.py", command("no"))
    folders.write("notes.txt", "not code")
    folders.write("_private.py", command("no"))
    folders.write(".hidden.py", command("no"))

    assert names(folders.host()) == ["a", "b"]


def test_a_projects_extensions_run_only_where_it_is_trusted(folders):
    mark = folders.cwd / "ran"
    folders.write(".pi/extensions/evil.py", f"open({str(mark)!r}, 'w').close()\ndef activate(pi): pass\n")
    untrusted = names(folders.host())
    ran_before = mark.exists()

    assert (untrusted, ran_before) == ([], False)
    assert names(folders.host(trust=True)) == ["evil"]
    assert mark.exists()


def test_the_order_is_user_project_settings_command_line(folders, command):
    folders.write("user.py", command("c"))
    folders.write(".pi/extensions/project.py", command("c"))
    other = folders.cwd / "other"
    other.mkdir()
    (other / "named.py").write_text(command("c"))
    (other / "given.py").write_text(command("c"))
    host = folders.host(trust=True, settings={"extensions": ["other/named.py"]}, given=["other/given.py"])

    assert names(host) == ["user", "project", "named", "given"]


async def test_a_later_one_wins_a_command(folders, command, start, stored_data):
    folders.write("one.py", command("go", "user"))
    folders.write(".pi/extensions/two.py", command("go", "project"))
    session = await start(folders.host(trust=True))
    await session.prompt("/go")
    await session.prompt("/one:go")

    assert stored_data(session) == ["project", "user"]


def test_a_file_named_twice_is_loaded_once(folders, command):
    file = folders.write("todo.py", command("todo"))
    link = folders.cwd / "link.py"
    link.symlink_to(file)

    assert names(folders.host(given=[str(file), "link.py"])) == ["todo"]


def test_only_those_of_this_run(folders, command):
    folders.write("user.py", command("u"))
    (folders.cwd / "given.py").write_text(command("g"))

    assert names(folders.host(given=["given.py"], discover=False)) == ["given"]


def test_a_named_folder_means_its_contents(folders, command):
    folder = folders.cwd / "many"
    folder.mkdir()
    (folder / "one.py").write_text(command("one"))
    (folder / "two.py").write_text(command("two"))
    (folders.cwd / "empty").mkdir()
    host = folders.host(settings={"extensions": ["many", "empty", "gone"]})

    assert names(host) == ["one", "two"]
    assert "empty has neither" in str(host.problems[0])
    assert "gone does not exist" in str(host.problems[1])


def test_settings_leave_files_out(folders, command):
    folders.write("one.py", command("one"))
    folders.write("two.py", command("two"))
    (folders.agent_dir / "settings.json").write_text('{"extensions": ["!two.py"]}')
    from pi_core import PluginHost, Settings
    from pi_core.host.extensions import LocalExtensions

    host = PluginHost(Settings.load(folders.cwd, folders.agent_dir, trust=False), installed=False)
    LocalExtensions(host, cwd=folders.cwd).load()

    assert names(host) == ["one"]


def test_a_disabled_one_is_not_run(folders, command):
    folders.write("one.py", "raise SystemExit(3)")
    host = folders.host(disabled=["one"])

    assert (names(host), host.problems) == ([], [])


@pytest.mark.parametrize("given", ["nope.py", "./nope", "~/nope.py", "a/b", "/no/such", "", "two words"])
def test_what_is_neither_a_file_nor_a_requirement_is_an_error(folders, given):
    with pytest.raises(UserError, match="there is no such file, and it is not a requirement"):
        folders.host(given=[given or "\x00 "])


def test_a_name_that_is_taken_gets_a_number_and_a_word(folders, command):
    folders.write("todo.py", command("one"))
    folders.write(".pi/extensions/todo.py", command("two"))
    host = folders.host(trust=True)

    assert names(host) == ["todo", "todo-2"]
    assert "another plugin is named 'todo'" in str(host.problems[0])


def test_a_package_with_the_name_of_another_plugin_is_not_told_to_rename_a_file(
    folders, command, tmp_path, monkeypatch
):
    file = tmp_path / "todo.py"
    file.write_text(command("two"))
    installed = PackageResource(path=str(file), scope="user", source="npm:@sea/todo", picks=None)
    monkeypatch.setattr(package_resources, "package_resources", lambda *_: [installed])
    folders.write("todo.py", command("one"))
    host = folders.host(settings={"packages": ["npm:@sea/todo"]})

    assert names(host) == ["todo", "todo-2"]
    (problem,) = host.problems
    assert "an extension of the package npm:@sea/todo is loaded as 'todo-2'; both are used" in str(problem)
    assert "pi remove npm:@sea/todo" in str(problem)
