"""What may be installed, what a person must agree to, and what a project cannot do before it is trusted."""

from __future__ import annotations

import io

import pytest

from pi_core.host.approved import are_packages_approved, declared_packages

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("trusting")]


def test_the_plan_says_what_a_plugin_states_to_use(bench):
    bench.held_plugin("1.0", {"hooks": ["turn_end"], "network": ["tides.example"], "tools": []})

    output = bench.ok("install", "tides", "--dry-run")

    assert "its plugins say they use hooks: turn_end; network: tides.example" in output


@pytest.mark.parametrize(
    ("before", "after", "asked"),
    [
        ({"hooks": ["turn_end"]}, {"hooks": ["turn_end"], "ctx": ["exec"]}, "ctx:exec"),
        ({"hooks": ["turn_end"]}, {"hooks": True}, "hooks:any"),
        ({"hooks": ["turn_end", "turn_start"]}, {"hooks": ["turn_end"]}, None),
        (None, {"hooks": ["turn_end"]}, None),
    ],
)
def test_an_update_that_asks_for_more_needs_a_person(bench, before, after, asked):
    bench.held_plugin("1.0", before)
    bench.ok("install", "tides")
    bench.held_plugin("1.1", after)

    if asked is None:
        bench.ok("update", "--extensions")
    else:
        assert f"pluggypi-tides asks for {asked}. Run it at a terminal, or confirm with -y" in bench.fails(
            "update", "--extensions"
        )
        bench.ok("update", "--extensions", "-y")
    assert bench.installed() == {"pluggypi-tides": "1.1"}


def test_an_update_without_a_statement_any_more_asks_for_everything(bench):
    bench.held_plugin("1.0", {"hooks": ["turn_end"]})
    bench.ok("install", "tides")
    bench.held_plugin("1.1", None)

    assert "asks for everything" in bench.fails("update", "--extensions")


def test_a_plugin_that_is_not_allowed_is_not_installed(bench):
    bench.plugin("tides")
    bench.set("plugins.allow", ["waves"])

    assert "not among the plugins that" in bench.fails("install", "tides")


@pytest.mark.slow
def test_the_list_of_plugins_says_why_one_is_left_out(bench):
    bench.plugin("tides")
    bench.ok("install", "tides")
    bench.set("plugins.allow", ["waves"])

    line = next(line for line in bench.pi("plugins").splitlines() if "tides" in line)

    assert "not loaded: plugins.allow in" in line


def test_a_statement_that_cannot_be_read_stops_the_installation(bench):
    bench.plugin("tides", **{"pi_tides_data/pi_plugin.json": "{"})

    assert "pi_plugin.json of pluggypi-tides cannot be used" in bench.fails("install", "tides")


def test_a_project_must_be_trusted_first(bench):
    bench.plugin("tides")

    assert "is not trusted" in bench.fails("install", "-l", "tides")
    bench.ok("install", "-l", "tides", trust=True)


@pytest.mark.slow
def test_a_projects_plugins_are_used_only_where_it_is_trusted(bench):
    bench.plugin("tides")
    bench.ok("install", "-l", "tides", trust=True)

    assert '"tides"' not in bench.pi("--no-approve", "plugins", "--json")
    assert '"tides"' in bench.pi("--approve", "plugins", "--json")


def test_a_list_that_changed_since_is_not_installed_at_start(bench):
    bench.plugin("tides")
    bench.plugin("waves")
    bench.ok("install", "-l", "tides", trust=True)
    assert are_packages_approved(bench.agent_dir, bench.cwd)
    settings = bench.cwd / ".pi" / "settings.json"
    settings.write_text(settings.read_text().replace('tides"', 'tides",\n"pypi:pluggypi-waves"'))

    error = bench.pi("--approve", "--model", "nosuch", "-p", "hello", code=1)

    assert "have changed since you agreed to them: pypi:pluggypi-waves are not installed. Run pi sync -l" in error
    bench.ok("sync", "-l", trust=True)
    assert are_packages_approved(bench.agent_dir, bench.cwd)


def test_nothing_of_an_untrusted_folder_is_read_or_run(bench, tmp_path):
    bench.plugin("tides")
    evil = tmp_path / "evil"
    evil.mkdir()
    (evil / "pluggypi_waves-1.0-py3-none-any.whl").write_bytes(b"no wheel")
    (bench.cwd / "uv.toml").write_text(f'find-links = ["{evil}"]\n[pip]\nno-index = true\n')
    (bench.cwd / "pip.conf").write_text(f"[global]\nfind-links = {evil}\n")
    (bench.cwd / ".npmrc").write_text("registry=http://127.0.0.1:1/\n")
    (bench.cwd / ".pi").mkdir()
    (bench.cwd / ".pi" / "settings.json").write_text(
        '{"packages": ["pypi:pluggypi-waves"], "packages.findLinks": ["/evil"], "packages.installer": ["/bin/false"]}'
    )
    bench.ok("sync")

    bench.ok("install", "tides")

    assert bench.installed() == {"pluggypi-tides": "1.0"}
    assert not list(bench.agent_dir.glob("packages/projects/*"))
    assert "waves" not in bench.ok("list")


def test_a_trusted_project_does_not_decide_where_packages_come_from(bench):
    bench.plugin("tides")
    (bench.cwd / ".pi").mkdir()
    (bench.cwd / ".pi" / "settings.json").write_text('{"packages.installer": ["/bin/false"], "packages.index": "x:y"}')

    bench.ok("install", "tides", trust=True)


@pytest.mark.parametrize("content", ["{", "[]", '{"packages": "x"}', '{"packages": [1, {"source": 2}]}'])
def test_a_list_that_cannot_be_read_names_nothing(tmp_path, content):
    (tmp_path / ".pi").mkdir()
    (tmp_path / ".pi" / "settings.json").write_text(content)

    assert declared_packages(tmp_path) == []


def test_a_change_says_what_and_why_before_it_is_allowed(bench, monkeypatch):
    bench.plugin("tides")
    monkeypatch.setattr("pi_packages.asking._has_terminal", lambda: True)
    monkeypatch.setattr("sys.stdin", io.StringIO("\ny\n"))

    bench.fails("install", "tides")
    assert "Change what is installed?\n  install pluggypi-tides 1.0" in bench.notices
    assert "A plugin is Python code that runs with all your privileges" in bench.notices
    assert "  y  Allow once\n  n  Refuse\nAnswer [y/N]: " in bench.notices
    assert bench.installed() == {}

    bench.ok("install", "tides")
    assert bench.installed() == {"pluggypi-tides": "1.0"}
