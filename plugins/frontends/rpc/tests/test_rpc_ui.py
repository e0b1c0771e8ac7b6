"""Dialogs and notices of plugins reach the client, and its replies come back."""

from __future__ import annotations

import asyncio

import pytest

from pi_hookspecs import AbortController, Approval, FormField, UserError, approval_choices


async def asked(talk, dialog, **reply):
    """Open a dialog, answer it as a client would, and return the request and the result."""
    answer = asyncio.create_task(dialog)
    request = await talk.event("extension_ui_request")
    talk.send(type="extension_ui_response", id=request["id"], **reply)
    return request, await answer


@pytest.fixture
def ui(talk):
    return talk.session.ui


async def test_select_asks_for_one_of_the_options(talk, ui):
    request, answer = await asked(talk, ui.select("Which?", ["a", "b"], timeout=60), value="b")

    assert answer == "b"
    assert {**request, "id": ""} == {
        "type": "extension_ui_request",
        "id": "",
        "method": "select",
        "title": "Which?",
        "options": ["a", "b"],
        "timeout": 60000,
    }


async def test_options_with_labels_come_back_as_their_values(talk, ui):
    options = [{"label": "First", "value": "a"}, {"label": "Second", "value": "b"}]

    request, answer = await asked(talk, ui.select("Which?", options), value="Second")

    assert (request["options"], answer) == (["First", "Second"], "b")


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ({"confirmed": True}, True),
        ({"value": True}, True),
        ({"confirmed": False}, False),
        ({"value": "true"}, False),
        ({"cancelled": True, "confirmed": True}, False),
        ({}, False),
    ],
)
async def test_both_replies_to_confirm_are_understood(talk, ui, reply, answer):
    _, result = await asked(talk, ui.confirm("Sure?", "It is for ever."), **reply)

    assert result is answer


@pytest.mark.parametrize(
    ("reply", "answer"), [({"value": "x"}, "x"), ({"cancelled": True}, None), ({"value": 5}, None), ({"value": ""}, "")]
)
async def test_input_and_editor_take_text(talk, ui, reply, answer):
    assert (await asked(talk, ui.input("Name?", "Ada"), **reply))[1] == answer
    assert (await asked(talk, ui.editor("Edit", "draft"), **reply))[1] == answer


async def test_what_was_not_offered_is_no_choice(talk, ui):
    assert (await asked(talk, ui.select("Which?", ["a"]), value="c"))[1] is None


async def test_timeouts_are_kept_by_pi(talk, ui):
    assert await ui.confirm("Sure?", timeout=0.01) is False
    assert (await talk.event("extension_ui_request"))["timeout"] == 10


async def test_a_reply_that_comes_too_late_changes_nothing(talk, ui):
    await ui.input("Name?", timeout=0.01)
    request = await talk.event("extension_ui_request")
    talk.send(type="extension_ui_response", id=request["id"], value="late")

    assert (await talk.call("get_state"))["success"]


async def test_an_abort_dismisses_a_dialog(talk, ui):
    abort = AbortController()
    answer = asyncio.create_task(ui.select("Which?", ["a"], signal=abort.signal))
    await talk.event("extension_ui_request")
    abort.abort("enough")

    assert await answer is None


async def test_the_end_dismisses_what_is_open(talk, ui):
    answer = asyncio.create_task(ui.select("Which?", ["a"]))
    await talk.event("extension_ui_request")
    talk.server.end(0)

    assert await answer is None
    assert await ui.confirm("And now?") is False


@pytest.mark.parametrize(
    ("emitted", "message"),
    [
        (lambda ui: ui.notify("Hello", "warning"), {"method": "notify", "message": "Hello", "notifyType": "warning"}),
        (lambda ui: ui.set_status("k", "busy"), {"method": "setStatus", "statusKey": "k", "statusText": "busy"}),
        (lambda ui: ui.set_status("k"), {"method": "setStatus", "statusKey": "k"}),
        (lambda ui: ui.set_widget("k", ["a"]), {"method": "setWidget", "widgetKey": "k", "widgetLines": ["a"]}),
        (
            lambda ui: ui.set_widget("k", ["a"], placement="belowEditor"),
            {"method": "setWidget", "widgetKey": "k", "widgetLines": ["a"], "widgetPlacement": "belowEditor"},
        ),
        (lambda ui: ui.set_title("pi"), {"method": "setTitle", "title": "pi"}),
        (lambda ui: ui.set_editor_text("draft"), {"method": "set_editor_text", "text": "draft"}),
        (lambda ui: ui.paste_to_editor("draft"), {"method": "set_editor_text", "text": "draft"}),
    ],
    ids=["notify", "status", "no status", "widget", "placed widget", "title", "editor text", "paste"],
)
async def test_notices_are_reported(talk, ui, emitted, message):
    emitted(ui)

    request = await talk.event("extension_ui_request")
    assert message.items() <= request.items()
    assert set(request) == {*message, "type", "id"}


async def test_what_only_a_terminal_has_does_nothing(talk):
    ui = talk.session.ctx.ui
    ui.set_footer(None)
    ui.set_working_message("x")

    assert (await ui.custom(object()), ui.get_editor_text(), ui.get_all_themes()) == (None, "", ())
    with pytest.raises(UserError, match="Theme switching not supported in RPC mode"):
        ui.set_theme("dark")


class Counter:
    """A component that counts."""

    def __init__(self, screen):
        self.screen, self.count = screen, 0

    def render(self, width):
        return [f"{self.count} of {width}"]


@pytest.mark.parametrize(
    ("show", "key", "placement"),
    [
        (lambda ui, factory: ui.set_widget("count", factory, placement="belowEditor"), "count", "belowEditor"),
        (lambda ui, factory: ui.set_header(factory), "pi:header", "aboveEditor"),
        (lambda ui, factory: ui.set_footer(factory), "pi:footer", "belowEditor"),
    ],
    ids=["widget", "header", "footer"],
)
async def test_a_component_is_sent_as_lines_when_it_changes(talk, show, key, placement):
    made = []

    def factory(screen):
        made.append(Counter(screen))
        return made[-1]

    show(talk.session.ctx.ui, factory)
    first = await talk.event("extension_ui_request")
    for _ in range(5):
        made[0].count += 1
        made[0].screen.refresh()
    second = await talk.event("extension_ui_request")
    made[0].screen.done()
    third = await talk.event("extension_ui_request")

    assert {**first, "id": ""} == {
        "type": "extension_ui_request",
        "id": "",
        "method": "setWidget",
        "widgetKey": key,
        "widgetLines": ["0 of 80"],
        "widgetPlacement": placement,
    }
    assert second["widgetLines"] == ["5 of 80"]
    assert "widgetLines" not in third


async def test_a_component_with_the_keys_becomes_dialogs(talk):
    dialog = talk.session.ctx.ui.custom(Counter, fallback=lambda ui: ui.input("How many?"))

    request, answer = await asked(talk, dialog, value="3")

    assert (request["title"], answer) == ("How many?", "3")


async def test_a_form_is_one_dialog_after_the_other(talk):
    fields = [FormField("depth", "integer", title="Depth"), FormField("tidal", "boolean", required=True)]
    answer = asyncio.create_task(talk.session.ctx.ui.form(fields, title="New harbour"))
    first = await talk.event("extension_ui_request")
    talk.send(type="extension_ui_response", id=first["id"], value="7")
    second = await talk.event("extension_ui_request")
    talk.send(type="extension_ui_response", id=second["id"], value="No")

    assert await answer == {"depth": 7, "tidal": False}
    assert (first["method"], first["title"]) == ("input", "New harbour: Depth")
    assert (second["method"], second["options"]) == ("select", ["Yes", "No"])


async def test_a_cancelled_dialog_of_a_form_dismisses_it(talk):
    dialog = talk.session.ctx.ui.form([FormField("depth", "integer"), FormField("name")])

    assert (await asked(talk, dialog, cancelled=True))[1] is None


async def test_a_page_is_an_address_in_a_notice(talk):
    assert talk.session.ctx.ui.open_url("https://harbours.example") is False

    request = await talk.event("extension_ui_request")
    assert request["message"] == "Open this page in a browser: https://harbours.example"


async def test_an_approval_is_a_selection_with_what_it_is_about(talk, ui):
    approval = Approval("Deploy?", what="staging", choices=approval_choices(always="staging"))

    request, answer = await asked(talk, ui.approve(approval), value="Always allow: staging")

    assert answer == "always"
    assert (request["method"], request["title"]) == ("select", "Deploy?\n\nstaging")
    assert request["options"] == ["Allow once", "Always allow: staging", "Refuse"]
    assert [each["label"] for each in request["approval"]["choices"]] == request["options"]
    assert request["approval"]["what"] == "staging"
