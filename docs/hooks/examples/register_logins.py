"""A login that asks for a token: `pi auth login acme`.

`pi plugin new NAME --kind login` creates one, with tests, as a starting point.
"""

from pi_hookspecs import hookimpl


class Acme:
    name = "acme"

    async def login(self, ui):
        return {"type": "oauth", "access": await ui.input("Acme token")}

    async def refresh(self, credential):
        return credential

    def api_key(self, credential):
        return credential["access"]


@hookimpl
def register_logins():
    return [Acme()]


# Test


async def test_example(pi_host, fake_ui):
    fake_ui.answers("t-123")
    login = pi_host.find("register_logins", "acme").thing

    credential = await login.login(fake_ui)

    assert login.api_key(credential) == "t-123"
