"""A provider's row may load its models lazily; callers see no difference."""

from __future__ import annotations

import attrs
import pytest

from pi_hookspecs import Model, ProviderInfo

MODEL = Model(id="One", name="One", api="acme", provider="acme")


class Shelf:
    def __init__(self, models=(MODEL,)):
        self.models = models
        self.asked = 0

    def __call__(self):
        self.asked += 1
        return self.models


def row(models, **fields):
    return ProviderInfo(**{"id": "acme", "name": "Acme", "api": "acme", "models": models, **fields})


def test_models_are_loaded_on_first_access_and_once():
    shelf = Shelf()
    info = row(shelf)
    before = shelf.asked

    found = info.models, info.models, info.model("one"), info.model("two")

    assert (before, shelf.asked) == (0, 1)
    assert found == ((MODEL,), (MODEL,), MODEL, None)


def test_a_custom_model_needs_no_table():
    shelf = Shelf()
    info = row(shelf, base_url="http://acme.test", headers={"x": "y"}, compat={"z": 1})

    model = info.custom_model("new")

    assert shelf.asked == 0
    assert (model.reference, model.base_url, model.headers, model.compat) == (
        "acme/new",
        "http://acme.test",
        {"x": "y"},
        {"z": 1},
    )


def test_headers_are_not_shown_because_a_users_own_may_hold_a_key():
    info = row((), headers={"x-key": "secret"})

    assert "secret" not in repr(info) + repr(info.custom_model("new"))


def test_showing_comparing_and_changing_a_row_loads_nothing():
    shelf = Shelf()
    info = row(shelf)

    renamed = attrs.evolve(info, name="Other")

    assert "Acme" in repr(info)
    assert (info == row(shelf), info == row(Shelf()), info == renamed, hash(info) == hash(row(shelf))) == (
        True,
        False,
        False,
        True,
    )
    assert shelf.asked == 0
    assert renamed.models == (MODEL,)


def test_rows_that_name_their_models_are_compared_by_them():
    assert row((MODEL,)) == row((MODEL,))
    assert row((MODEL,)) != row(())


def test_a_failure_to_load_is_reported_each_time():
    def broken():
        message = "no such file"
        raise OSError(message)

    info = row(broken)

    for _ in range(2):
        with pytest.raises(OSError, match="no such file"):
            info.models  # noqa: B018 - looking is the test
