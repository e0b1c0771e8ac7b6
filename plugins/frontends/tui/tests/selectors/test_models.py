"""The list of models, and the list of those to cycle through."""

from __future__ import annotations

from pi_tui.keys.bindings import Bindings
from pi_tui.selectors.models import MadeDefault, ModelRow, ModelSelector
from pi_tui.selectors.scoped_models import ScopeChanged, ScopedModelSelector, ScopeSaved
from pi_tui.selectors.selector import Cancelled, Chosen

MODELS = [
    ModelRow("acme/fast", "Acme Fast"),
    ModelRow("fake/m1", "Model One", is_current=True, is_default=True),
    ModelRow("fake/m2", "Model Two", is_scoped=True),
]


def unscoped() -> ModelSelector:
    return ModelSelector([model._replace(is_scoped=False) for model in MODELS])


def test_the_current_model_comes_first(user):
    assert user.sees(unscoped(), 80) == (
        f"""{"─" * 80}
Models of providers you are signed in to; /login adds more
>
→ ✓ m1 [fake] · default
    fast [acme]
    m2 [fake]
  Model One
Enter to select · Escape to cancel · Ctrl+S to set as default
{"─" * 80}"""
    )


def test_a_narrow_screen_cuts_rows_and_wraps_hints(user):
    assert user.sees(ModelSelector(MODELS), 30) == (
        f"""{"─" * 30}
Scope: all | scoped · Tab to …
>
→   m2 [fake]
  Model Two
Enter to select ·
Escape to cancel ·
Ctrl+S to set as default
{"─" * 30}"""
    )


def test_a_low_screen_keeps_what_can_be_chosen(user):
    assert user.sees(unscoped(), 40, 7) == (
        f"""{"─" * 40}
>
→ ✓ m1 [fake] · default
    fast [acme]
    m2 [fake]
{"─" * 40}"""
    )


def test_a_list_that_does_not_fit_says_where_the_cursor_is(user):
    selector = ModelSelector([ModelRow(f"fake/m{number:02}") for number in range(25)])

    user.press(selector, "pagedown", "down")

    assert "→   m11 [fake]" in user.sees(selector, 40, 12)
    assert "  (12/25)" in user.sees(selector, 40, 12).splitlines()


def test_hints_name_the_keys_that_are_bound(user):
    bindings = Bindings("linux", {"app.models.save": ("alt+s",)})

    drawn = "\n".join(map(str, unscoped().lines(80, 20, bindings)))

    assert "Alt+S to set as default" in drawn
    assert "Ctrl+S" not in drawn


def test_typing_leaves_what_matches(user):
    selector = unscoped()

    user.type(selector, "acm")

    assert user.press(selector, "enter") == Chosen(MODELS[0])


def test_enter_takes_nothing_where_nothing_matches(user):
    selector = unscoped()

    user.type(selector, "zzz")

    assert user.press(selector, "enter") is None
    assert user.press(selector, "ctrl+s") is None
    assert "No matching models" in user.sees(selector)


def test_ctrl_s_makes_the_model_the_default(user):
    assert user.press(unscoped(), "down", "ctrl+s") == MadeDefault(MODELS[0])


def test_escape_takes_none(user):
    assert user.press(unscoped(), "escape") == Cancelled()


def test_tab_shows_all_models_or_those_to_cycle_through(user):
    selector = ModelSelector(MODELS)

    assert user.press(selector, "enter").value.id == "m2"

    user.press(selector, "tab")

    assert [each.id for each in selector.choices.found] == ["m1", "fast", "m2"]
    assert selector.choices.selected.id == "m2"


def test_the_cursor_comes_back_at_the_other_end(user):
    assert user.press(unscoped(), "up", "enter").value.id == "m2"


# Models to cycle through


def test_all_models_are_enabled_at_first(user):
    assert user.sees(ScopedModelSelector(MODELS), 100) == (
        f"""{"─" * 100}
Models to cycle through
>
→ fast [acme]
  m1 [fake]
  m2 [fake]
  · all enabled
Enter toggle · Ctrl+A all · Ctrl+X clear · Ctrl+P provider · Alt+Up/Alt+Down reorder · Ctrl+S save
{"─" * 100}"""
    )


def test_the_first_model_that_is_chosen_is_the_only_one(user):
    selector = ScopedModelSelector(MODELS)

    assert user.press(selector, "down", "enter") == ScopeChanged(("fake/m1",))
    assert "→ ✓ m1 [fake]" in user.sees(selector)
    assert "  · 1/3 enabled (unsaved)" in user.sees(selector)


def test_enabling_every_model_is_enabling_all(user):
    selector = ScopedModelSelector(MODELS, ["fake/m1", "acme/fast"])

    assert user.press(selector, "down", "down", "enter") == ScopeChanged(None)


def test_models_can_be_disabled_all_at_once_or_by_provider(user):
    assert user.press(ScopedModelSelector(MODELS), "ctrl+x") == ScopeChanged(())
    assert user.press(ScopedModelSelector(MODELS), "ctrl+p") == ScopeChanged(("fake/m1", "fake/m2"))
    assert user.press(ScopedModelSelector(MODELS, []), "down", "ctrl+p") == ScopeChanged(("fake/m1", "fake/m2"))


def test_a_search_limits_what_is_enabled_at_once(user):
    selector = ScopedModelSelector(MODELS, [])

    user.type(selector, "fake")

    assert user.press(selector, "ctrl+a") == ScopeChanged(("fake/m1", "fake/m2"))


def test_the_order_is_changed_by_moving_a_model(user):
    selector = ScopedModelSelector(MODELS, ["fake/m1", "acme/fast"])

    assert user.press(selector, "alt+down") == ScopeChanged(("acme/fast", "fake/m1"))
    assert selector.choices.selected == "fake/m1"
    assert user.press(selector, "alt+down") is None


def test_all_models_can_be_in_another_order(user):
    changed = user.press(ScopedModelSelector(MODELS), "alt+down")

    assert changed == ScopeChanged(("fake/m1", "acme/fast", "fake/m2"))


def test_saving_is_asked_for(user):
    selector = ScopedModelSelector(MODELS, ["fake/m1"])
    user.press(selector, "down", "enter")

    assert user.press(selector, "ctrl+s") == ScopeSaved(("fake/m1", "acme/fast"))
    assert "(unsaved)" not in user.sees(selector)


def test_models_that_are_gone_are_left_out(user):
    assert ScopedModelSelector(MODELS, ["gone/x", "fake/m2", "fake/m2"]).enabled == ("fake/m2",)
