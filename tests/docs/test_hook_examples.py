"""Every page of docs/hooks has an example, a small plugin: it works as its page shows, and only because it is there."""

from __future__ import annotations

import importlib.util
from inspect import signature
from pathlib import Path

import pytest
from attrs import evolve

from pi_hookspecs.specs import all_hookspecs
from pi_testing import for_each
from pi_testing.options import PiOptions
from pi_testing.under_test import plugins_for

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "docs" / "hooks" / "examples"


def loaded(file, name):
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def hook():
    """The hook of this test; None where no example is about it."""
    return


@pytest.fixture
def example(hook):
    return loaded(EXAMPLES / f"{hook}.py", f"example_of_{hook}")


@pytest.fixture
def is_there():
    """Whether the example is among the plugins."""
    return True


@pytest.fixture
def pi_options(example):
    """What the page's test says with its marker, as pytest would read it there."""
    marks = getattr(example.test_example, "pytestmark", [])
    return PiOptions(**{key: value for mark in marks for key, value in mark.kwargs.items()})


@pytest.fixture
def pi_plugins(example, is_there, pi_options):
    """The installed plugins that the page's test names, and the example."""
    others = plugins_for(evolve(pi_options, plugins=[]), EXAMPLES / "test_page.py")
    return {**others, "example": example} if is_there else others


@pytest.fixture
def shows(example, pi_session, script, fake_ui, fake_tools, pi_host, tmp_path, capsys):
    """What shows that the example works, with the fixtures that it names."""
    known = {
        "pi_session": pi_session,
        "script": script,
        "fake_ui": fake_ui,
        "fake_tools": fake_tools,
        "pi_host": pi_host,
        "tmp_path": tmp_path,
        "capsys": capsys,
    }
    return lambda: example.test_example(**{name: known[name] for name in signature(example.test_example).parameters})


@pytest.mark.parametrize("hook", all_hookspecs())
async def test_example_works_as_its_page_shows(shows, recorder, pi_session):
    pi_session.subscribe(recorder, "extension_error")

    await shows()

    assert [each.error for each in recorder.of("extension_error")] == []


@pytest.mark.parametrize("is_there", [False])
@pytest.mark.parametrize("hook", all_hookspecs())
async def test_what_an_example_shows_is_not_so_without_it(shows, fake_ui, is_there):
    with pytest.raises(Exception):  # noqa: B017, PT011 - each fails in its own way: nothing registered, nothing changed
        await shows()

    fake_ui.release()  # the answer to a dialog that the plugin would have opened


@for_each("hook", all_hookspecs())
def test_example_is_about_its_hook(hook):
    text = (EXAMPLES / f"{hook}.py").read_text()
    plugin, _, output = text.partition("\n# Test\n")

    assert f"def {hook}(" in plugin or f'@pi.on("{hook}")' in plugin
    assert "async def test_example(" in output
    assert len(plugin.splitlines()) <= 35


def test_there_are_no_examples_of_other_hooks():
    assert {each.stem for each in EXAMPLES.glob("*.py")} == {*all_hookspecs()}
