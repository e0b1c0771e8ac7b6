"""A plugin that is uninstalled while pi runs: what was not loaded yet is missed by name, what was goes on."""

from __future__ import annotations


def test_one_that_was_not_loaded_is_reported_when_it_is_wanted(site):
    file = site.install("gone", "@hookimpl\ndef register_commands():\n    return [Command(name='go', handler=print)]\n")
    site.host().records  # noqa: B018 - the index is written
    host = site.host()
    named = [record.name for record in host.registering("register_commands", "go")]
    file.unlink()
    found = host.find("register_commands", "go")

    assert named == ["gone"]
    assert found is None
    assert [problem.plugin for problem in host.problems] == ["gone"]
    assert "not loaded: ModuleNotFoundError" in str(host.problems[0])


def test_one_that_was_loaded_goes_on(site):
    file = site.install("gone", "@hookimpl\ndef register_commands():\n    return [Command(name='go', handler=print)]\n")
    host = site.host()
    host.load("gone")
    file.unlink()

    assert host.find("register_commands", "go").plugin == "gone"
