"""The settings of the sandbox: what they mean, which are errors, and that a project only makes them stricter."""

from __future__ import annotations

import json

import pytest

from pi_core import PluginHost, Settings
from pi_hookspecs import UserError
from pi_sandbox.options import read_options


@pytest.fixture
def options(tmp_path):
    """``options(own, project, engine)``: what two settings files and ``--sandbox`` ask for."""

    def read(own, project=None, engine=None):
        agent_dir, cwd = tmp_path / "agent", tmp_path / "project"
        for folder, values in ((agent_dir, own), (cwd / ".pi", project)):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "settings.json").write_text(json.dumps({} if values is None else {"sandbox": values}))
        settings = Settings.load(cwd=cwd, agent_dir=agent_dir, trust=True)
        PluginHost(settings).declare_settings(settings)
        return read_options(settings, engine)

    return read


def test_nothing_is_asked_for_by_default(options):
    found = options({})

    assert (found.mode, found.network, found.write) == ("off", "off", ())


def test_the_command_line_names_another_engine(options):
    assert options({"mode": "bwrap"}, engine="off").mode == "off"
    assert options({}, engine="auto").mode == "auto"


def test_a_project_can_switch_the_sandbox_on(options):
    found = options(None, {"mode": "auto", "denyRead": ["private"]})

    assert (found.mode, found.deny_read) == ("auto", ("private",))


def test_a_project_cannot_loosen_what_the_user_set(options):
    found = options(
        {"mode": "bwrap", "network": "off", "write": ["/data"]},
        {"mode": "off", "network": "open", "write": ["/"], "allow": ["example.org"], "env": ["TOKEN"]},
    )

    assert (found.mode, found.network, found.write, found.allow, found.env) == ("bwrap", "off", (), (), ())


def test_a_project_can_take_folders_and_hosts_away(options):
    found = options(
        {"mode": "auto", "network": "allow", "allow": ["a.org", "b.org"], "write": ["/one", "/two"]},
        {"allow": ["b.org"], "write": ["/two"]},
    )

    assert (found.allow, found.write) == (("b.org",), ("/two",))


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"mode": "docker"}, "sandbox.mode must be one of off, auto, bwrap, landlock, seatbelt, not 'docker'"),
        ({"network": True}, "sandbox.network must be one of off, allow, open, not True"),
        ({"write": "/data"}, "sandbox.write must be a list of strings, not '/data'"),
        ({"allow": ["*"]}, "sandbox.allow cannot have '*'"),
        ({"allow": ["10.0.0.1"]}, "sandbox.allow cannot have '10.0.0.1'"),
        ({"allow": ["https://a.org/"]}, "sandbox.allow cannot have 'https://a.org/'"),
        ({"allow": ["a.org:99999"]}, "sandbox.allow cannot have 'a.org:99999'"),
        ({"allow": ["a.org:0"]}, "sandbox.allow cannot have 'a.org:0'"),
        ({"network": "allow"}, "sandbox.allow names no host"),
        ({"denyRead": ["private/*.pem"]}, "sandbox.denyRead cannot have 'private/*.pem': wildcards are not supported"),
        ({"denyRead": ["~bob/keys"]}, "sandbox.denyRead cannot have '~bob/keys': only '~/' is expanded"),
        ({"write": ["a\0b"]}, "embedded null"),
        ({"write": ["a" * 300]}, "it cannot be read: File name too long"),
        ({"netwrok": "off"}, "sandbox.netwrok does not exist; use one of mode, network"),
        ("auto", "sandbox must be an object, not 'auto'"),
    ],
)
def test_a_setting_that_cannot_be_used_is_an_error_that_names_it(options, values, words):
    with pytest.raises(UserError, match=words.replace("[", r"\[").replace("*", r"\*")):
        options(values)


def test_a_folder_that_is_there_may_have_any_name(options, tmp_path):
    folder = tmp_path / "what? *"
    folder.mkdir()

    assert options({"mode": "auto", "write": [str(folder)]}).write == (str(folder),)


def test_a_list_belongs_to_the_older_example_plugin(options):
    assert options(["bwrap", "--unshare-all"]).mode == "off"


def test_an_unknown_engine_on_the_command_line_is_an_error(options):
    with pytest.raises(UserError, match="--sandbox must be one of"):
        options({}, engine="dokcer")


def test_a_file_that_cannot_be_read_is_an_error(options, tmp_path):
    options({"mode": "auto"})
    (tmp_path / "agent" / "settings.json").write_text('{"sandbox": {"mode": "au')

    with pytest.raises(UserError, match=r"in a file that may set sandbox"):
        read_options(Settings.load(cwd=tmp_path / "project", agent_dir=tmp_path / "agent", trust=True))
