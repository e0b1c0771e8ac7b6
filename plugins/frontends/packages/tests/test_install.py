"""``pi install`` puts plugins into a folder of pi's own, whole or not at all."""

from __future__ import annotations

import hashlib
import json

import pytest

pytestmark = pytest.mark.slow  # each starts programs that take seconds

quick = pytest.mark.usefixtures("trusting")


@quick
def test_a_bare_name_installs_the_plugin_with_the_prefix_and_what_it_needs(bench):
    bench.library("zztide", "2.0")
    bench.plugin("tides", "1.2", requires=("pluggypi-hookspecs>=1,<2", "zztide"))

    output = bench.ok("install", "tides>=1")

    assert output.splitlines() == [
        "install pluggypi-tides 1.2  (pypi:pluggypi-tides>=1)",
        "install zztide 2.0  (needed by others)",
    ]
    assert bench.installed() == {"pluggypi-tides": "1.2", "zztide": "2.0"}
    assert bench.settings["packages"] == ["pypi:pluggypi-tides>=1"]


@pytest.mark.slow
def test_pi_runs_with_an_installed_plugin_until_it_is_removed(bench):
    bench.plugin("tides")
    bench.pi("install", "tides")

    plugins = {each["name"]: each for each in json.loads(bench.pi("plugins", "--json"))}
    bench.pi("remove", "tides")

    assert plugins["tides"]["distribution"] == "pluggypi-tides"
    assert plugins["tides"]["loads"]
    assert "tides" not in {each["name"] for each in json.loads(bench.pi("plugins", "--json"))}


@quick
def test_a_name_never_means_a_distribution_without_the_prefix(bench):
    bench.library("tides")

    error = bench.fails("install", "tides")

    assert "means 'pluggypi-tides' and nothing else" in error
    assert "write pypi:tides" in error


@quick
def test_a_distribution_that_is_no_plugin_is_refused(bench):
    bench.library("zztide")

    assert "zztide 1.0 is not a plugin" in bench.fails("install", "pypi:zztide")


@quick
def test_a_conflict_with_the_environment_names_both_sides_and_the_way_out(bench):
    bench.plugin("old", requires=("attrs<20",))

    error = bench.fails("install", "old")

    assert "attrs<20" in error
    assert "pi's own environment has attrs" in error
    assert "pi update self" in error


@quick
def test_two_plugins_that_do_not_go_together_are_refused_together(bench):
    bench.library("zztide", "1.0")
    bench.library("zztide", "2.0")
    bench.plugin("a", requires=("zztide<2",))
    bench.plugin("b", requires=("zztide>=2",))
    bench.ok("install", "a")

    error = bench.fails("install", "b")

    assert "zztide" in error
    assert bench.installed() == {"pluggypi-a": "1.0", "zztide": "1.0"}


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("raise RuntimeError('low water')", "RuntimeError: low water"),
        ("import zzmissing", "No module named 'zzmissing'"),
        ("import os; os._exit(7)", "loading it ends the process (exit code 7)"),
        pytest.param("import time; time.sleep(60)", "importing pi_tides", marks=pytest.mark.slow),
    ],
)
def test_a_plugin_that_cannot_be_loaded_is_not_installed(bench, source, reason):
    if "sleep" in source:
        bench.set("hooks.timeout", 0.5)
    bench.plugin("tides", source=source)

    error = bench.fails("install", "tides")

    assert "nothing was changed: the plugin 'tides' is new and cannot be loaded" in error
    assert reason in error


@pytest.mark.slow
def test_an_update_that_breaks_a_plugin_is_not_installed(bench):
    bench.plugin("tides", "1.0")
    bench.ok("install", "tides")
    bench.plugin("tides", "1.1", source="raise RuntimeError('low water')")

    assert "'tides' worked before and cannot be loaded" in bench.fails("update", "--extensions")


def test_what_a_plugin_prints_while_it_is_tried_does_not_reach_stdout(bench):
    bench.plugin("tides", source="print('ahoy')\nfrom pi_hookspecs import hookimpl\n@hookimpl\ndef turn_end(): pass\n")

    assert json.loads(bench.ok("install", "tides", "--json"))["changed"] is True


@quick
def test_a_module_that_the_environment_has_already_is_refused(bench):
    bench.plugin("tides", **{"attrs.py": "x = 1\n"})
    bench.plugin("waves", **{"attrs/__init__.py": "x = 1\n"})

    assert "contains the module 'attrs', which pi's environment already has" in bench.fails("install", "waves")
    assert "contains the module 'attrs'" in bench.fails("install", "tides")


@quick
def test_a_dry_run_says_what_would_be_done(bench):
    bench.plugin("tides")
    before = bench.state()

    output = bench.ok("install", "tides", "--dry-run")

    assert output == "install pluggypi-tides 1.0  (pypi:pluggypi-tides)\n"
    assert bench.state() == before


@quick
def test_installing_again_changes_nothing(bench):
    bench.plugin("tides")
    bench.ok("install", "tides")
    before = bench.state()

    assert bench.ok("install", "tides") == "Already installed.\n"
    assert bench.state() == before


@quick
def test_another_package_leaves_the_versions_of_the_others(bench):
    bench.plugin("tides", "1.0")
    bench.ok("install", "tides")
    bench.plugin("tides", "1.1")
    bench.plugin("waves")

    bench.ok("install", "waves")

    assert bench.installed() == {"pluggypi-tides": "1.0", "pluggypi-waves": "1.0"}


@pytest.mark.slow
@quick
def test_a_pin_keeps_the_version_through_updates(bench):
    bench.plugin("tides", "1.0")
    bench.ok("install", "tides", "--pin")
    bench.plugin("tides", "1.1")

    bench.ok("update", "--extensions")

    assert bench.installed() == {"pluggypi-tides": "1.0"}
    assert bench.settings["packages"] == ["pypi:pluggypi-tides==1.0"]


@quick
def test_what_others_wrote_into_the_settings_meanwhile_stays(bench):
    bench.plugin("tides")
    bench.set("theme", "dark")
    bench.set("packages", [{"source": "npm:left-pad", "skills": []}])

    code, _ = bench.run("install", "tides", "--offline")

    assert code == 1  # the npm package was never fetched
    assert bench.settings["theme"] == "dark"
    assert bench.settings["packages"] == [{"source": "npm:left-pad", "skills": []}]


@quick
def test_removing_takes_along_only_what_no_other_package_needs(bench):
    bench.library("zztide")
    bench.plugin("a", requires=("zztide",))
    bench.plugin("b", requires=("zztide",))
    bench.ok("install", "a", "b")

    bench.ok("remove", "a")

    assert bench.installed() == {"pluggypi-b": "1.0", "zztide": "1.0"}
    assert bench.settings["packages"] == ["pypi:pluggypi-b"]
    assert "'c' is not among the user's packages" in bench.fails("remove", "c")


@quick
def test_what_was_never_installed_is_removed_from_the_settings(bench, tmp_path):
    (tmp_path / "gone").mkdir()
    gone = str(tmp_path / "gone")
    bench.set("packages", [gone, "pypi:pluggypi-tides", "pypi:pluggypi-waves"])
    (tmp_path / "gone").rmdir()

    bench.plugin("waves")
    bench.ok("remove", gone, "tides")

    assert bench.settings["packages"] == ["pypi:pluggypi-waves"]


@quick
def test_what_is_installed_and_not_declared_is_declared_again(bench):
    bench.plugin("tides")
    bench.ok("install", "tides")
    bench.set("packages", [])

    bench.ok("install", "tides")

    assert bench.settings["packages"] == ["pypi:pluggypi-tides"]


@quick
def test_removing_names_the_settings_that_remain(bench):
    bench.plugin("tides")
    bench.ok("install", "tides")
    bench.set("tides.depth", 3)
    bench.set("plugins.disabled", ["tides"])

    bench.ok("remove", "tides")

    assert "Settings that remain: tides, plugins.disabled (tides)" in bench.notices


@quick
def test_a_rollback_brings_back_versions_lock_and_settings_without_a_solver(bench, monkeypatch):
    bench.plugin("tides", "1.0")
    bench.ok("install", "tides")
    before = bench.state()
    bench.plugin("tides", "1.1")
    bench.plugin("waves")
    bench.ok("install", "tides", "waves", "-U")
    monkeypatch.setenv("PATH", "")

    bench.ok("update", "--rollback")

    assert bench.state() == before


@quick
def test_there_is_nothing_to_go_back_to_at_first(bench):
    assert "nothing to restore" in bench.fails("update", "--rollback")


@quick
def test_the_log_says_what_was_installed_and_who_agreed(bench):
    wheel = bench.plugin("tides")
    bench.ok("install", "tides", "-y")

    rows = [json.loads(line) for line in (bench.agent_dir / "packages" / "log.jsonl").read_text().splitlines()]

    assert len(rows) == 1
    assert rows[0]["version"] == "1.0"
    assert rows[0]["by"] == "-y"
    assert rows[0]["sha256"] == [hashlib.sha256(wheel.read_bytes()).hexdigest()]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((), "needs the name of a package"),
        (("--bogus",), "unrecognized arguments: --bogus"),
        (("-r", "nosuch.txt"), "There is no file"),
    ],
)
@quick
def test_wrong_use_has_exit_code_two(bench, arguments, reason):
    code, error = bench.run("install", *arguments)

    assert code == 2
    assert reason in error


@quick
def test_a_denied_package_is_not_installed(bench):
    bench.plugin("tides")
    bench.set("packages.deny", ["pluggypi-ti*"])

    assert "denied by the setting packages.deny" in bench.fails("install", "tides")


@quick
def test_a_denied_package_is_not_installed_as_a_dependency_of_another_one(bench):
    bench.library("pluggypi-tides")
    bench.plugin("waves", requires=("pluggypi-hookspecs>=1,<2", "pluggypi-tides"))
    bench.set("packages.deny", ["pluggypi-ti*"])

    assert "denied by the setting packages.deny" in bench.fails("install", "waves")
    assert bench.installed() == {}


@quick
def test_offline_nothing_is_fetched_and_the_error_says_so(bench, monkeypatch):
    monkeypatch.delenv("UV_NO_INDEX")

    assert "Nothing was fetched (--offline)" in bench.fails("install", "tides", "--offline")
