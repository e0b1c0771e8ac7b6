"""Which front end is started, and what it may do before its session is made."""

from __future__ import annotations

from contextlib import contextmanager, suppress

import pytest

from pi_cli.arguments import parse
from pi_cli.preparing import prepared, start_facts
from pi_core import PluginHost, Settings
from pi_hookspecs import Mode, UserError

pytestmark = pytest.mark.slow  # each starts programs that take seconds

PAINTING = """
from contextlib import contextmanager

from pi_hookspecs import Flag, Mode, UserError, hookimpl

@contextmanager
def paint(facts):
    print("frame", facts.cwd.name, facts.theme, facts.session_name, facts.flags["shade"], "HOME" in facts.environ)
    try:
        yield
    finally:
        print("left")

def refuse(facts):
    raise UserError("this terminal is too small")

def broken(facts):
    raise RuntimeError("no driver")

async def run(session, options):
    async with session:
        print("talking", session.get_flag("shade"))
    return 3

async def plain(session, options):
    return 4

@hookimpl
def register_flags():
    return [Flag("shade", type="string", default="dark")]

@hookimpl
def register_modes():
    return [
        Mode("canvas", run=run, prepare=paint, interactive=True, priority=3),
        Mode("small", run=run, prepare=refuse, interactive=True, priority=2, needs_tty=True),
        Mode("plain", run=plain, interactive=True, priority=1),
        Mode("broken", run=run, prepare=broken, interactive=True),
        Mode("batch", run=plain),
    ]
"""


@pytest.fixture
def painting(fake):
    fake.install("painting", PAINTING)
    return fake


# Prepare


def test_front_end_prepares_before_the_session_and_is_left_after_it(painting, at_terminal):
    (painting.agent_dir / "settings.json").write_text('{"theme": "dusk"}')
    arguments = ("--model", "fake/echo", "--name", "tides", "--shade", "pale")

    output, code = at_terminal(painting, *arguments, line=False).end()

    assert output == f"frame {painting.cwd.name} dusk tides pale True\ntalking pale\nleft\n"
    assert code == 3


def test_front_end_is_left_before_the_reason_for_no_session_is_printed(painting, at_terminal):
    output, code = at_terminal(painting, "--model", "nowhere/none", line=False).end()

    assert code == 1
    assert output.startswith("frame ")
    assert output.index("\nleft\n") < output.index("\nError: ")
    assert "talking" not in output


def test_front_end_that_cannot_prepare_makes_way_for_the_next(painting, at_terminal):
    output, code = at_terminal(painting, "--model", "fake/echo", "--tui-mode", "small", line=False).end()

    assert " ".join(output.split()).startswith(
        "Warning: Mode 'small' cannot be used here: this terminal is too small. Mode 'canvas' is started instead frame"
    )
    assert code == 3


def test_named_front_end_that_cannot_prepare_ends_the_program(painting):
    ended = painting.run("--model", "fake/echo", "--mode", "broken")

    assert ended.returncode == 1
    assert ended.stderr.startswith("Error: Mode 'broken' cannot be used here: RuntimeError: no driver (")
    assert "painting.py, line " in ended.stderr


def test_context_of_a_mode_keeps_no_exception_from_propagating():
    @contextmanager
    def swallow(_facts):
        with suppress(ValueError):
            yield

    with pytest.raises(ValueError, match="lost"), prepared(iter([Mode("m", run=None, prepare=swallow)]), None):
        raise ValueError("lost")


def test_context_that_fails_to_end_is_a_warning(capsys):
    @contextmanager
    def fails(_facts):
        yield
        raise OSError("terminal is gone")

    with prepared(iter([Mode("m", run=None, prepare=fails)]), None) as mode:
        pass

    assert mode.name == "m"
    assert capsys.readouterr().err.startswith("Warning: Mode 'm' failed to end: OSError: terminal is gone")


def test_last_front_end_that_cannot_prepare_is_the_reason_to_end(capsys):
    def refuse(facts):
        raise UserError(f"no colours for {facts}")

    modes = iter([Mode(name, run=None, prepare=refuse) for name in ("first", "second")])

    with (
        pytest.raises(UserError, match=r"^Mode 'second' cannot be used here: no colours for None$"),
        prepared(modes, None),
    ):
        pass

    assert "Mode 'second' is started instead" in capsys.readouterr().err


@pytest.mark.parametrize("exit_code", [0, 3])
def test_a_front_end_that_exits_while_it_prepares_makes_way_too(capsys, exit_code):
    def leave(_facts):
        raise SystemExit(exit_code)

    with prepared(iter([Mode("m", run=None, prepare=leave), Mode("plain", run=None)]), None) as mode:
        pass

    assert mode.name == "plain"
    assert "Mode 'm' cannot be used here: SystemExit" in capsys.readouterr().err


# Choice


@pytest.mark.parametrize(
    ("arguments", "settings", "code"),
    [
        ((), '{"tuiMode": "plain"}', 4),
        (("--tui-mode", "fullscreen"), '{"tuiMode": "plain"}', 3),
        ((), '{"tuiMode": "fullscreen"}', 3),
        (("--tui-mode", "plain"), "{}", 4),
    ],
)
def test_option_then_setting_choose_among_interactive_front_ends(painting, at_terminal, arguments, settings, code):
    (painting.agent_dir / "settings.json").write_text(settings)

    assert at_terminal(painting, "--model", "fake/echo", *arguments, line=False).end()[1] == code


def test_regular_is_the_line_mode(painting, at_terminal):
    terminal = at_terminal(painting, "--model", "fake/echo", "--tui-mode", "regular", script='TERM=dumb exec "$@"')

    assert "/help lists the commands" in terminal.until("> ")


def test_unknown_name_in_the_settings_names_its_place(painting, at_terminal):
    file = painting.agent_dir / "settings.json"
    file.write_text('{\n  "tuiMode": "batch"\n}')

    output, code = at_terminal(painting, "--model", "fake/echo", line=False).end()

    assert code == 1
    assert " ".join(output.split()) == (
        f"Error: {file}:2: no interactive front end is named 'batch'. "
        "Use one of fullscreen, regular, canvas, small, plain, broken, line"
    )


def test_prompt_that_is_printed_ignores_the_interactive_choice(painting):
    ended = painting.run("--model", "fake/echo", "-p", "hi", "--tui-mode", "nonsense")

    assert (ended.stdout, ended.returncode) == ("hi\n", 0)


def test_named_front_end_that_needs_a_terminal_is_refused_without_one(painting):
    ended = painting.run("--model", "fake/echo", "--mode", "small")

    assert ended.returncode == 1
    assert ended.stderr == (
        "Error: Mode 'small' needs a terminal, and stdin is not one. Use -p, which prints the answer\n"
    )


@pytest.mark.parametrize(
    ("arguments", "theme"), [((), "sea"), (("--use-theme", "light/dark"), "light/dark")], ids=["setting", "option"]
)
def test_a_front_end_is_prepared_in_the_theme_of_the_run(tmp_path, arguments, theme):
    settings = Settings.in_memory({"theme": "sea"}, agent_dir=tmp_path)

    facts = start_facts(parse(arguments), PluginHost(settings, installed=False), tmp_path, {})

    assert facts.theme == theme
