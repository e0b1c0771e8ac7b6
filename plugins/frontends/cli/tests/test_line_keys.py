"""What plugins add to the line at a terminal: keys, the completion of their commands' arguments, messages of theirs."""

from __future__ import annotations

import pytest

from pi_cli.line.plugin_keys import PluginKeys
from pi_hookspecs import Shortcut

pytestmark = pytest.mark.slow

EXTENSION = """
from pi_hookspecs import CustomMessage


def activate(pi):
    def complete(typed):
        return [each for each in ("alpha", "beta") if each.startswith(typed)]

    @pi.register_command("take", description="Take a letter", complete=complete)
    def take(args, ctx):
        ctx.ui.notify(f"took {args}")

    @pi.register_command("fail", complete=lambda typed: 1 / 0)
    def fail(args, ctx):
        pass

    pi.register_message_renderer("card", lambda value, *, width, expanded: [f"*{value.content}*"])

    @pi.register_command("cards")
    async def cards(args, ctx):
        for kind, shows in (("card", True), ("plain", True), ("card", False)):
            await pi.send_message(CustomMessage(custom_type=kind, content=f"{kind} {shows}", display=shows))

    @pi.register_shortcut("ctrl+g", description="Say that it was pressed")
    async def press(ctx):
        ctx.ui.notify("pressed")

    @pi.register_shortcut("ctrl+c")
    def never(ctx):
        pass
"""


@pytest.fixture
def terminal(fake, at_terminal, tmp_path):
    (tmp_path / "letters.py").write_text(EXTENSION)
    extension = str(tmp_path / "letters.py")
    started = at_terminal(fake, "--model", "fake/echo", "-e", extension, script='TERM=dumb exec "$@"')
    started.until("> ")
    return started


def test_tab_completes_the_arguments_of_a_command(terminal):
    terminal.type("/take al\t")
    terminal.until("/take ala")  # a dumb terminal shows the first letter that comes
    terminal.type("\n")

    assert "took alpha" in terminal.until("took alpha")


def test_a_failing_completion_is_reported_and_the_line_stays(terminal):
    terminal.type("/fail x\t")
    terminal.until("failed in the completion of /fail: ZeroDivisionError")
    terminal.type("\n/take me\n")

    assert "Traceback" not in terminal.until("took me")


def test_a_plugins_key_does_what_the_plugin_says_and_one_of_pis_own_does_not(terminal):
    terminal.until("'ctrl+c' of plugin 'letters' does nothing here: line mode uses it itself")
    terminal.type("\x07")
    terminal.until("pressed")
    terminal.type("/help\n")

    assert "Say that it was pressed" in terminal.until("Say that it was pressed")


def test_a_plugins_message_is_displayed_as_the_plugin_formats_it(terminal):
    terminal.type("/cards\n")
    terminal.until("*card True*\r\nplain True\r\n")
    terminal.type("/take one\n")

    assert "card False" not in terminal.until("took one")


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("ctrl+g", ("c-g",)),
        ("Ctrl+Alt+P", ("escape", "c-p")),
        ("alt+x", ("escape", "x")),
        ("shift+tab", ("s-tab",)),
        ("f5", ("f5",)),
        ("ctrl+shift+left", ("c-s-left",)),
        ("del", ("delete",)),
    ],
)
def test_keys_by_their_names_in_the_contract(name, keys):
    reported = []
    bindings = PluginKeys(print, reported.append).bindings([Shortcut(name=name, handler=print)]).bindings

    assert [tuple(getattr(key, "value", key) for key in each.keys) for each in bindings] == [keys]
    assert reported == []


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("ctrl+c", "line mode uses it itself"),
        ("enter", "line mode uses it itself"),
        ("p", "line mode uses it itself"),
        ("ctrl+shift+p", "terminals do not distinguish it from other keys"),
        ("hyper+f5", "terminals do not distinguish it from other keys"),
        ("", "terminals do not distinguish it from other keys"),
    ],
)
def test_an_unavailable_key_is_reported_once(name, why):
    reported = []
    keys = PluginKeys(print, reported.append)
    for _ in range(2):
        bindings = keys.bindings([Shortcut(name=name, handler=print, plugin="piano")]).bindings

    assert bindings == []
    assert reported == [f"The key {name!r} of plugin 'piano' does nothing here: {why}"]
