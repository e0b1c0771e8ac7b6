"""The models of a local server that has a known API; they are plain data and need no code."""

from pi_hookspecs import Model, ProviderInfo, hookimpl

URL = "http://attic:8080/v1"


@hookimpl
def register_models():
    model = Model(id="small", name="Small", api="openai-completions", provider="attic", base_url=URL)
    return [ProviderInfo(id="attic", name="Attic", api=model.api, base_url=URL, keyless=True, models=(model,))]


# Test


async def test_example(pi_session):
    model = pi_session.models.exact("attic", "small")

    assert model.base_url == "http://attic:8080/v1"
