"""Mistakes in what a plugin registers are reported with what is wrong, when pi runs."""

from __future__ import annotations

import pytest

from pi_core import PluginHost, Settings
from pi_hookspecs import Flag, hookimpl


def reported(tmp_path, **plugins):
    host = PluginHost(Settings.in_memory(agent_dir=tmp_path), installed=False)
    for name, plugin in plugins.items():
        host.add(plugin, name)
    host.registrations("register_flags")
    host.registrations("register_services")
    host.registrations("register_exporters")
    host.dispatcher(lambda failure: None)
    return [str(each) for each in host.problems]


def before(other):
    class Ordered:
        @hookimpl(before=[other])
        def turn_end(self, event, ctx):
            """Do nothing."""

    return Ordered()


def registers(hook, *things):
    def call(self):
        return things

    call.__name__ = hook
    return type("Registers", (), {hook: hookimpl(call)})()


def test_a_cycle_is_reported_when_a_session_is_made(tmp_path):
    problems = reported(tmp_path, one=before("two"), two=before("one"))

    assert len(problems) == 1
    assert "(turn_end): before= and after= form a cycle (" in problems[0]


def test_a_neighbour_that_seems_to_be_misspelt_is_reported_and_one_that_is_not_there_is_not(tmp_path):
    problems = reported(tmp_path, weather=before("wether"), one=before("weathr"), two=before("not-installed"))

    assert problems == [
        "Plugin 'weather' (turn_end): before= or after= names 'wether': did you mean weather?",
        "Plugin 'one' (turn_end): before= or after= names 'weathr': did you mean weather?",
    ]


@pytest.mark.parametrize("kind", ["int", "bool", None])
def test_a_flag_of_a_wrong_type_is_reported(tmp_path, kind):
    problems = reported(tmp_path, one=registers("register_flags", Flag("depth", type=kind)))

    assert problems == [
        f"Plugin 'one' (register_flags): flag 'depth': type must be 'boolean' or 'string', not {kind!r}"
    ]


class Exports:
    """An Exporter without a format."""

    def export(self, *arguments):
        """Do nothing."""


def test_what_a_kind_needs_and_an_object_lacks_is_named(tmp_path):
    (problem,) = reported(tmp_path, one=registers("register_exporters", Exports()))

    assert "is not of type Exporter: it has no 'format'" in problem


def test_what_resembles_nothing_is_told_all_kinds(tmp_path):
    (problem,) = reported(tmp_path, one=registers("register_services", object()))

    assert "is not of type Compactor or BranchSummarizer or Retrier or" in problem
