"""What a policy allows: paths, variables, hosts."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from pi_sandbox.bwrap import bwrap_argv
from pi_sandbox.engine import try_engine
from pi_sandbox.options import Options
from pi_sandbox.policy import Way, make_policy
from pi_sandbox.proxy import allowed_host

NAMES = (".pi", "AGENTS.md", ".mcp.json")


@pytest.fixture
def places(tmp_path):
    """The folders of a session."""
    for name in ("project", "temp", "home", "agent"):
        (tmp_path / name).mkdir()
    return tmp_path


@pytest.fixture
def policy_of(places):
    """``policy_of(options, **environment)``."""

    def make(options=None, **env):
        return make_policy(
            options or Options(mode="auto"),
            cwd=str(places / "project"),
            temp=str(places / "temp"),
            home=str(places / "home"),
            agent_dir=str(places / "agent"),
            env=env,
            names=NAMES,
        )

    return make


def test_files_of_the_project_can_be_changed_and_others_cannot(policy_of, places):
    policy = policy_of()

    assert policy.refused_write(str(places / "project" / "src" / "a.py")) is None
    assert "be changed below" in policy.refused_write(str(places / "home" / "a.py"))
    assert "be changed below" in policy.refused_write(str(places / "project2"))


def test_a_session_in_a_worktree_of_pi_can_change_that_and_nothing_else_of_pi(places):
    worktrees = places / "agent" / "worktrees" / "project"
    for name in ("one", "two"):
        (worktrees / name).mkdir(parents=True)
    (places / "agent" / "settings.json").touch()
    folders = {"temp": str(places / "temp"), "home": str(places / "home"), "agent_dir": str(places / "agent")}
    policy = make_policy(Options(mode="auto", write=(str(places),)), cwd=str(worktrees / "one"), env={}, **folders)
    alone = make_policy(Options(mode="auto"), cwd=str(worktrees / "one"), env={}, **folders)

    assert policy.refused_write(str(worktrees / "one" / "a.py")) is None
    assert "protects" in policy.refused_write(str(places / "agent" / "settings.json"))
    assert alone.refused_write(str(worktrees / "one" / "a.py")) is None
    assert "be changed below" in alone.refused_write(str(worktrees / "two" / "a.py"))
    assert "be changed below" in alone.refused_write(str(places / "agent" / "new.json"))


@pytest.mark.parametrize(
    "name", [".git/hooks/pre-commit", ".git/config", ".pi/settings.json", "AGENTS.md", ".mcp.json"]
)
def test_what_is_run_or_read_elsewhere_is_protected(policy_of, places, name):
    assert "protects" in policy_of().refused_write(str(places / "project" / name))


@pytest.mark.parametrize("name", [".ssh/id_rsa", ".aws/credentials", ".netrc", ".config/gh/hosts.yml"])
def test_keys_in_the_home_directory_are_hidden(policy_of, places, name):
    assert "hides" in policy_of().refused_read(str(places / "home" / name))


def test_pis_own_logins_and_sessions_are_hidden(policy_of, places):
    policy = policy_of()

    assert policy.refused_read(str(places / "agent" / "auth.json")) is not None
    assert policy.refused_read(str(places / "agent" / "sessions" / "x.jsonl")) is not None
    assert policy.refused_read(str(places / "agent" / "skills" / "x" / "SKILL.md")) is None


def test_further_folders_are_those_of_the_settings(policy_of, places):
    policy = policy_of(Options(mode="auto", write=("~/data", "../shared"), deny_read=("secret.txt",)))

    assert policy.refused_write(str(places / "home" / "data" / "x")) is None
    assert policy.refused_write(str(places / "shared" / "x")) is None
    assert policy.refused_read(str(places / "project" / "secret.txt")) is not None


def test_the_repository_of_a_worktree_can_be_changed_but_not_what_git_runs(policy_of, places):
    shared = places / "repository" / ".git"
    own = shared / "worktrees" / "project"
    own.mkdir(parents=True)
    for folder in (shared, own):
        (folder / "HEAD").write_text("ref: refs/heads/main\n")
    (own / "commondir").write_text("../..\n")
    (places / "project" / ".git").write_text(f"gitdir: {own}\n")

    policy = policy_of()

    assert policy.refused_write(str(shared / "objects" / "aa")) is None
    assert policy.refused_write(str(own / "index")) is None
    assert policy.refused_write(str(shared / "hooks" / "pre-commit")) is not None
    assert policy.refused_write(str(shared / "config")) is not None
    assert policy.refused_write(str(own / "commondir")) is not None


def test_a_git_file_that_names_a_folder_without_a_repository_opens_nothing(policy_of, places):
    (places / "project" / ".git").write_text(f"gitdir: {places / 'home'}\n")

    assert policy_of().refused_write(str(places / "home" / "x")) is not None


def test_programs_get_no_keys_and_their_own_temporary_folder(policy_of, places):
    policy = policy_of(Options(mode="auto", env=("NPM_TOKEN",)))
    env = {
        "PATH": "/bin",
        "OPENAI_API_KEY": "k",
        "AWS_PROFILE": "p",
        "SSH_AUTH_SOCK": "s",
        "NPM_TOKEN": "t",
        "KEYBOARD": "us",
        "DATABASE_URL": "postgres://app:pw@db.example/app",
        "SENTRY_DSN": "https://1@sentry.example/2",
    }

    found = policy.environment(env)

    assert found["TMPDIR"] == str(places / "temp")
    assert {name for name in env if name in found} == {"PATH", "NPM_TOKEN", "KEYBOARD"}


def test_the_folders_of_programs_and_of_pi_stay_readable(policy_of, places, monkeypatch):
    monkeypatch.setattr(sys, "prefix", str(places / "venv"))
    monkeypatch.setattr(sys, "base_prefix", str(places / "python"))
    monkeypatch.setattr(sys, "path", ["", places / "ignored", str(places / "checkout" / "src")])

    programs = policy_of(PATH=f"{places}/tools/bin:relative/bin").programs

    assert programs == tuple(str(places / each) for each in ("tools", "venv", "python", "checkout/src"))


def test_the_proxy_replaces_that_of_the_user(policy_of):
    policy = policy_of(Options(mode="auto", network="allow", allow=("a.org",)))

    found = policy.environment({"HTTPS_PROXY": "http://company", "no_proxy": "*"}, Way(3128))

    assert found["HTTPS_PROXY"] == found["https_proxy"] == "http://127.0.0.1:3128"
    assert "no_proxy" not in found


def test_the_password_of_the_proxy_is_in_the_variables_and_not_in_its_repr(policy_of):
    policy = policy_of(Options(mode="auto", network="allow", allow=("a.org",)))
    way = Way(3128, token="t0ken")

    found = policy.environment({}, way)

    assert {found[name] for name in ("HTTP_PROXY", "https_proxy")} == {"http://pi:t0ken@127.0.0.1:3128"}
    assert {found[name] for name in ("ALL_PROXY", "all_proxy")} == {"socks5h://pi:t0ken@127.0.0.1:3128"}
    assert "t0ken" not in repr(way)


@pytest.mark.parametrize(
    ("host", "port", "allowed"),
    [
        ("a.org", 443, True),
        ("A.ORG.", 80, True),
        ("a.org", 22, False),
        ("b.a.org", 443, False),
        ("x.wild.org", 443, True),
        ("x.y.wild.org", 443, True),
        ("wild.org", 443, False),
        ("notwild.org", 443, False),
        ("ported.org", 8080, True),
        ("ported.org", 443, False),
        ("127.0.0.1", 443, False),
    ],
)
def test_hosts_are_allowed_by_name_and_port(host, port, allowed):
    assert allowed_host(host, port, ["a.org", "*.wild.org", "ported.org:8080"]) is allowed


def test_build_tools_get_caches_of_their_own(policy_of, places):
    policy = policy_of(Options(mode="auto", env=("GOCACHE",)))

    found = policy.environment({"GOCACHE": "/mine", "UV_CACHE_DIR": "/theirs"})

    assert found["GOCACHE"] == "/mine"
    assert found["UV_CACHE_DIR"] == str(places / "temp" / "uv")


@pytest.mark.parametrize(
    ("network", "url", "reason"),
    [
        ("open", "http://anything.example/", None),
        ("off", "https://example.org/", "the sandbox has no network"),
        ("allow", "https://example.org/a", None),
        ("allow", " HTTP://EXAMPLE.org.:80/", None),
        ("allow", "https://example.org:8443/", "example.org:8443 is not in sandbox.allow"),
        ("allow", "https://example.org@evil.example/", "evil.example:443 is not in sandbox.allow"),
        ("allow", "https://[bad/", "is not a URL"),
        ("allow", "None", ":0 is not in sandbox.allow"),
    ],
)
def test_urls_that_pi_itself_fetches_keep_to_the_network_of_the_sandbox(policy_of, network, url, reason):
    refused = policy_of(Options(mode="auto", network=network, allow=("example.org",))).refused_url(url)

    assert refused is None if reason is None else reason in refused


def test_a_protected_file_that_goes_away_before_the_program_starts_stops_no_program(policy_of, places):
    bwrap = shutil.which("bwrap")
    if bwrap is None or try_engine("bwrap") is not None:
        pytest.skip("bubblewrap does not work here")
    project = places / "project"
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    planted = project / ".git" / "commondir"  # by a parallel call, and undone meanwhile
    planted.write_text("../evil\n")

    command = bwrap_argv(bwrap, ["/bin/echo", "works"], policy_of(), str(project))
    planted.unlink()

    assert str(planted) in command
    assert subprocess.run(command, capture_output=True, text=True, check=False).stdout == "works\n"


def test_a_hidden_file_in_the_project_cannot_be_written_either(policy_of, places):
    policy = policy_of(Options(mode="auto", deny_read=("private", "notes.txt")))

    for path in ("private/new.txt", "private", "notes.txt"):
        assert policy.refused_read(str(places / "project" / path)) is not None
        assert policy.refused_write(str(places / "project" / path)) is not None
    assert policy.refused_write(str(places / "project" / "public.txt")) is None
