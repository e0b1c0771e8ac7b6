"""Asks before a secret file is read, and remembers an "always" as the entry of a list."""

from pi_hookspecs import Approval, Permission, ToolCallResult, approval_choices, hookimpl

ALLOWED = []


class SecretFiles:
    name = "Secret files"

    def list(self, place):
        return [Permission(each, what=each) for each in ALLOWED]

    async def remove(self, permission, place):
        ALLOWED.remove(permission.key)


@hookimpl
def register_permissions():
    return [SecretFiles()]


@hookimpl
async def tool_call(event, ctx):
    path = event.input.get("path", "")
    if not path.endswith(".pem") or path in ALLOWED:
        return None
    approval = Approval("Read a secret file?", what=path, choices=approval_choices(always=f"every reading of {path}"))
    answer = await ctx.ui.approve(approval, signal=ctx.signal)
    if answer == "always":
        ALLOWED.append(path)
    return ToolCallResult(block=True, reason="The user refused.") if answer is None else None


# Test

from pi_testing import steps


async def test_example(pi_session, script, fake_ui, fake_tools):
    fake_ui.answers("always")
    for _ in range(2):  # the second time, nothing is asked
        script.turn(steps.tool_call("read", path="key.pem")).turn(steps.text("ok"))
        await pi_session.prompt("please")
    [permission] = await pi_session.ctx.list_permissions()
    await pi_session.ctx.remove_permission(permission)

    assert permission.what == "key.pem"
    assert await pi_session.ctx.list_permissions() == []
    assert len(fake_tools["read"].calls) == 2
