"""A login's token, base URL and headers in a request, and the error message that names the login."""

from __future__ import annotations

import pytest

from pi_core import AuthStorage, ModelRegistry, PluginHost, Settings
from pi_hookspecs import MissingKey, Model, ProviderInfo, StreamOptions, hookimpl


def row(provider_id, base_url="", key_variables=("ACME_API_KEY",)):
    model = Model(id="m", name="m", api="chat", provider=provider_id, base_url=base_url)
    return ProviderInfo(id=provider_id, name=provider_id, api="chat", key_variables=key_variables, models=(model,))


@pytest.fixture
def registry(tmp_path):
    def make(*rows, logins, stored=None, **environ):
        class Plugin:
            @hookimpl
            def register_models(self):
                return list(rows)

            @hookimpl
            def register_logins(self):
                return list(logins)

        settings = Settings.in_memory({}, agent_dir=tmp_path)
        host = PluginHost(settings, installed=False)
        host.add(Plugin(), "plugin")
        return ModelRegistry(host, settings, environ, auth=AuthStorage.in_memory(stored, environ=environ))

    return make


class TokenLogin:
    name = "acme"

    async def login(self, ui):
        raise NotImplementedError

    async def refresh(self, credential):
        return {"access": f"{credential['refresh']}-fresh", "expires": 4102444800000}

    def api_key(self, credential):
        return credential["access"]


class MovingLogin(TokenLogin):
    def base_url(self, credential, base_url):
        return f"{base_url}/{credential['access']}"


@pytest.mark.parametrize(
    ("login", "base_url"), [(MovingLogin, "https://acme.test/r-fresh"), (TokenLogin, "https://acme.test")]
)
async def test_a_login_can_change_the_base_url(registry, login, base_url):
    stored = {"acme": {"type": "oauth", "access": "old", "refresh": "r", "expires": 1}}
    models = registry(row("acme", base_url="https://acme.test"), stored=stored, logins=[login()])

    model, options = await models.prepare(models.find("acme/m"), StreamOptions())

    assert (model.base_url, options.api_key) == (base_url, "r-fresh")


async def test_a_login_may_add_headers_to_its_requests(registry):
    class SigningLogin(TokenLogin):
        def headers(self, credential):
            return {"x-user": credential["access"]}

    stored = {"acme": {"type": "oauth", "access": "old", "refresh": "r", "expires": 1}}
    models = registry(row("acme"), stored=stored, logins=[SigningLogin()])

    _, options = await models.prepare(models.find("acme/m"), StreamOptions())

    assert options.headers == {"x-user": "r-fresh"}


@pytest.mark.parametrize("place", ["runtime", "options", "stored", "environment"])
async def test_a_key_from_another_source_is_sent_to_the_base_url_of_the_model(registry, place):
    login = {"acme": {"type": "oauth", "access": "a", "refresh": "r"}}
    stored = {"runtime": login, "options": login, "stored": {"acme": {"type": "api_key", "key": "k"}}}.get(place, {})
    environ = {"ACME_API_KEY": "k"} if place == "environment" else {}
    models = registry(row("acme", base_url="https://acme.test"), stored=stored, logins=[MovingLogin()], **environ)
    if place == "runtime":
        models.auth.set_runtime_api_key("acme", "k")
    options = StreamOptions(api_key="k" if place == "options" else None)

    model, options = await models.prepare(models.find("acme/m"), options)

    assert (model.base_url, options.api_key) == ("https://acme.test", "k")


def test_the_error_of_a_missing_key_names_the_login(registry):
    login = TokenLogin()
    login.name = "plan"
    models = registry(row("acme"), row("plan", key_variables=()), logins=[TokenLogin(), login])

    with pytest.raises(MissingKey, match=r"Set ACME_API_KEY, or sign in: pi auth login acme \(see pi help keys\)$"):
        models.check(models.find("acme/m"))
    with pytest.raises(
        MissingKey, match=r"No API key found for plan. Sign in: pi auth login plan \(see pi help keys\)$"
    ):
        models.check(models.find("plan/m"))
    assert models.logins() == ["acme", "plan"]
