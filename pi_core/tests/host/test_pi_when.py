"""``pi_when``: an installed plugin that is imported for its hooks only where it is configured."""

from __future__ import annotations

import pytest

from pi_core import SessionManager, Settings, create_agent_session

LISTENS = """
pi_when = {"files": ["acme.json", "./acme.toml"], "env": ["ACME_*"], "settings": ["acme.on"]}

@hookimpl
def turn_start(event): pass

@hookimpl
def register_commands():
    return [Command(name="acme", handler=print)]
"""


@pytest.fixture
def loads(site, tmp_path, monkeypatch):
    """Return whether a session in ``tmp_path / "project"`` imports the plugin."""
    site.install("acme", LISTENS)
    assert site.host().records["acme"].when
    monkeypatch.delenv("ACME_KEY", raising=False)
    project = tmp_path / "project"
    (project / ".pi").mkdir(parents=True)

    def start(**settings):
        site.host(**settings).load_listeners(project)
        return bool(site.imported())

    return start


def test_without_file_and_variable_it_is_not_imported(loads):
    assert not loads()


@pytest.mark.parametrize("place", ["agent/acme.json", "project/.pi/acme.json", "project/acme.toml"])
def test_a_file_is_enough(loads, tmp_path, place):
    (tmp_path / place).write_text("{}")

    assert loads()


@pytest.mark.parametrize("place", ["project/acme.json", "agent/acme.toml", "agent/other.json"])
def test_a_file_in_another_place_is_none(loads, tmp_path, place):
    (tmp_path / place).write_text("{}")

    assert not loads()


def test_a_variable_is_enough(loads, monkeypatch):
    monkeypatch.setenv("ACME_KEY", "1")

    assert loads()


@pytest.mark.parametrize(("value", "loaded"), [(True, True), ({"more": 1}, True), (False, False), (None, False)])
def test_a_setting_is_enough_unless_it_is_off(loads, value, loaded):
    assert loads(acme={"on": value}) is loaded


def test_its_hooks_are_not_called_by_the_session_that_indexes_it(site):
    site.install("acme", LISTENS + "\n@hookimpl\ndef activate(pi): pass\n")
    host = site.host()
    host.load_listeners()

    assert site.imported()
    assert host.dispatcher(pytest.fail).implementations("turn_start") == ()
    assert host.activations() == []


def test_its_hooks_are_not_called_because_its_command_was_used(loads, site):
    host = site.host()
    host.load_listeners()
    hooks = host.dispatcher(pytest.fail)

    host.find("register_commands", "acme")
    hooks.compile(afresh=True)  # as a reload does

    assert hooks.implementations("turn_start") == ()


async def test_its_hooks_are_called_after_a_reload_that_finds_its_file(loads, site, script, tmp_path):
    settings = Settings.in_memory({}, site.agent_dir)
    memory = SessionManager.in_memory()
    options = {"session_manager": memory, "settings": settings, "host": site.host(), "cwd": tmp_path}
    async with create_agent_session(plugins={"script": script}, model=script.model, **options) as session:
        assert not session.hooks.listens("turn_start")
        (tmp_path / "agent" / "acme.json").write_text("{}")

        await session.reload()

        assert session.hooks.listens("turn_start")


def test_what_it_registers_by_name_is_there_all_the_same(loads, site):
    host = site.host()
    host.load_listeners()

    assert host.find("register_commands", "acme").plugin == "acme"


@pytest.mark.parametrize(
    "wrong",
    [
        *("[]", "{}", "'acme.json'", "{'files': 'acme.json'}", "{'hosts': ['x']}", "{'env': [5]}", "{'files': ['']}"),
        *("{'texts': ['acme.json']}", "{'texts': ['acme.json: ']}", "{'texts': [': acme']}"),
    ],
)
def test_a_condition_that_is_none_is_reported_and_the_plugin_is_loaded(site, problems, wrong):
    site.install("acme", f"pi_when = {wrong}\n@hookimpl\ndef turn_start(event): pass\n")
    host = site.host()
    ((plugin, step, message),) = problems(host)

    host.load_listeners()

    assert (plugin, step) == ("acme", "index")
    assert message.startswith("pi_when must look like")
    assert site.imported()


def test_a_plugin_without_one_is_loaded(site):
    site.install("acme", "@hookimpl\ndef turn_start(event): pass\n")
    site.host().load_listeners()

    assert site.imported()


def test_a_settings_file_that_cannot_be_read_may_have_the_setting(loads, site):
    (site.agent_dir / "settings.json").write_text("{")

    site.host().load_listeners(settings=Settings.load(site.agent_dir, agent_dir=site.agent_dir))

    assert site.imported()


@pytest.mark.parametrize(
    ("flags", "loaded"), [({"acme": "on"}, True), ({"acme": False}, False), ({"other": "on"}, False)]
)
def test_an_option_is_enough_unless_it_is_off(site, flags, loaded):
    site.install("acme", 'pi_when = {"flags": ["acme"]}\n@hookimpl\ndef turn_start(event): pass\n')
    assert site.host().records["acme"].when
    site.host().load_listeners(flags=flags)

    assert bool(site.imported()) is loaded


def test_the_settings_of_the_session_count_not_those_of_a_shared_host(loads, site):
    host = site.host()

    host.load_listeners(settings=Settings.in_memory({"acme": {"on": True}}, site.agent_dir))

    assert site.imported()


@pytest.mark.parametrize(("folder", "loaded"), [("project", True), ("project/src/deep", True), (".", False)])
def test_a_file_may_be_in_a_folder_above(site, tmp_path, folder, loaded):
    site.install("acme", 'pi_when = {"files": [".../.acme"]}\n@hookimpl\ndef turn_start(event): pass\n')
    assert site.host().records["acme"].when
    (tmp_path / "project" / "src" / "deep").mkdir(parents=True)
    (tmp_path / "project" / ".acme").touch()

    site.host().load_listeners(tmp_path / folder)

    assert bool(site.imported()) is loaded


@pytest.mark.parametrize(
    ("place", "content", "loaded"),
    [
        ("agent/tools.json", '{"servers": {"acme": 1}}', True),
        ("agent/tools.json", '{"servers": {"other": 1}}', False),
        ("project/.pi/tools.json", "acme", True),
        ("project/tools.json", "acme", False),
        ("agent/tools.json", None, False),
    ],
)
def test_a_text_in_another_plugin_s_file_is_enough_and_the_file_is_not(site, tmp_path, place, content, loaded):
    site.install("acme", 'pi_when = {"texts": ["tools.json: acme"]}\n@hookimpl\ndef turn_start(event): pass\n')
    assert site.host().records["acme"].when
    (tmp_path / "project" / ".pi").mkdir(parents=True)
    if content is None:
        (tmp_path / place).mkdir()
    else:
        (tmp_path / place).write_text(content)

    site.host().load_listeners(tmp_path / "project")

    assert bool(site.imported()) is loaded


@pytest.mark.parametrize(
    ("name", "disabled", "expected"),
    [
        ("acme", [], "/acme is not available here: the plugin 'acme' waits for acme.json or"),
        ("acme", ["acme"], "/acme is not available: the plugin 'acme' is disabled (plugins.disabled)."),
        ("tide", [], "/tide is not available here: the plugin 'acme' waits for"),
        ("other", [], None),
    ],
)
def test_a_command_that_waits_is_explained(site, name, disabled, expected):
    site.install("acme", LISTENS.replace('"acme.on"', '"tide.enabled"'))

    why = site.host(*disabled).why_no_command(name)

    assert why is expected if expected is None else why.startswith(expected)
