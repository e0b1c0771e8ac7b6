"""``ctx.list_permissions``: the decisions of all plugins; a plugin that fails costs its own only."""

from __future__ import annotations

import pytest

from pi_hookspecs import Permission, PluginError, UserError, hookimpl


class Store:
    def __init__(self, name, *what, fails=None):
        self.name, self.what, self.fails = name, [*what], fails

    def list(self, place):
        if self.fails is not None:
            raise self.fails
        return [Permission(each, what=each, place=place.session_id) for each in self.what]

    async def remove(self, permission, place):
        if permission.key == "broken":
            raise ZeroDivisionError
        if permission.key == "fixed":
            raise UserError("It is fixed.")
        self.what.remove(permission.key)


def plugin(*stores):
    class Plugin:
        @hookimpl
        def register_permissions(self):
            return stores

    return Plugin()


ONE, TWO = Store("Ships", "ketch", "broken", "fixed"), Store("Ports", "Brest")


@pytest.mark.pi(plugins={"one": plugin(ONE), "two": plugin(TWO)})
async def test_decisions_are_listed_by_store_and_undone_by_their_plugin(pi_session):
    found = await pi_session.ctx.list_permissions()
    assert [(each.store, each.what) for each in found][:2] == [("Ports", "Brest"), ("Ships", "ketch")]
    assert {each.place for each in found} == {pi_session.ctx.session.id}

    await pi_session.ctx.remove_permission(found[1])

    assert ONE.what == ["broken", "fixed"]
    with pytest.raises(UserError, match="It is fixed"):
        await pi_session.ctx.remove_permission(found[3])
    with pytest.raises(PluginError, match="'one' could not undo 'broken'"):
        await pi_session.ctx.remove_permission(found[2])


@pytest.mark.pi(
    plugins={
        "bad": plugin(Store("Bad", fails=ZeroDivisionError())),
        "unread": plugin(Store("Unread", fails=UserError("targets.json is no JSON"))),
        "two": plugin(Store("Ports", "Brest")),
    }
)
async def test_a_store_that_fails_is_reported_and_the_others_are_listed(pi_session):
    reports = []
    pi_session.subscribe(lambda event: reports.append(event.error), "extension_error")

    assert [each.what for each in await pi_session.ctx.list_permissions()] == ["Brest"]
    failed, unread = reports
    assert "failed to list 'Bad'" in failed
    assert "Unread: targets.json is no JSON" in unread


@pytest.mark.pi(plugins={"two": plugin(Store("Ports", "Brest"))})
async def test_what_cannot_be_undone_says_why(pi_session):
    with pytest.raises(UserError, match="No plugin has a permission store 'Gone'"):
        await pi_session.ctx.remove_permission(Permission("x", what="x", store="Gone"))
    fixed = Permission("x", what="x", place="until this session ends", store="Ports", removable=False)
    with pytest.raises(UserError, match="cannot be undone here: until this session ends"):
        await pi_session.ctx.remove_permission(fixed)
