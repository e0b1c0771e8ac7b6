"""``ctx.secrets``: known secrets are replaced in texts, whatever they come from, and are in no ``repr``."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_core import ModelRegistry, PluginHost, Settings
from pi_core.models.auth_storage import AuthStorage
from pi_core.plugin_api.clean_lines import CleanStream
from pi_core.plugin_api.secrets import PluginSecrets
from pi_hookspecs import PiError, PluginError, SecretValues, UserError, hookimpl

LOGIN = {"type": "oauth", "access": "access-of-login", "refresh": "refresh-of-login", "expires": 1}


def secrets_of(auth, *plugins):
    settings = Settings.in_memory()
    host = PluginHost(settings, installed=False)
    for number, plugin in enumerate(plugins):
        host.add(plugin, f"plugin{number}")
    return PluginSecrets(auth, host, settings)


@pytest.fixture
def auth():
    environ = {"SHOP_API_KEY": "key-of-shop", "HOME": "/home/somebody", "SHORT_TOKEN": "abc", "PATH": "/bin:/usr/bin"}
    storage = AuthStorage.in_memory(
        {"acme": {"type": "api_key", "key": "key-of-acme"}, "login": LOGIN}, environ=environ
    )
    storage.set_runtime_api_key("other", "key-of-this-run")
    return storage


@pytest.fixture
def secrets(auth):
    return secrets_of(auth)


@pytest.mark.parametrize(
    ("value", "source"),
    [
        ("key-of-shop", "SHOP_API_KEY"),
        ("key-of-acme", "acme"),
        ("access-of-login", "login"),
        ("refresh-of-login", "login"),
        ("key-of-this-run", "other"),
    ],
)
def test_every_known_secret_is_replaced_and_has_its_source(secrets, value, source):
    redacted = secrets.redact(f"before {value} after")

    assert redacted == "before [redacted] after"
    assert {each.value: each.source for each in secrets.known()}[value] == source


def test_variables_of_the_process_are_read_again_only_when_one_has_changed(monkeypatch):
    monkeypatch.setenv("SHOP_API_KEY", "key-of-shop")
    auth = AuthStorage.in_memory({}, environ=os.environ)
    read = os.environ.decodevalue
    reads = []
    assert auth.known_secrets()["key-of-shop"] == "SHOP_API_KEY"

    with monkeypatch.context() as patch:
        patch.setattr(os.environ, "decodevalue", lambda value: (reads.append(value), read(value))[1])
        auth.known_secrets()
        assert not reads

    monkeypatch.setenv("SHOP_API_KEY", "another-key-of-shop")
    assert "key-of-shop" not in auth.known_secrets()
    assert auth.known_secrets()["another-key-of-shop"] == "SHOP_API_KEY"
    monkeypatch.delenv("SHOP_API_KEY")
    assert "another-key-of-shop" not in auth.known_secrets()


def test_other_variables_and_short_values_are_no_secrets(secrets):
    text = "/home/somebody has abc in /bin:/usr/bin"

    assert secrets.redact(text) == text


async def test_a_plugin_adds_a_secret_for_all_others(activated, fake_ui):
    def first(pi):
        pi.on("session_start", lambda event, ctx: ctx.secrets.add("token-of-server"))

    def second(pi):
        pi.on("session_start", lambda event, ctx: ctx.ui.notify(ctx.secrets.redact("token-of-server")))

    session = await activated(first, second, ui=fake_ui)

    assert [each.message for each in fake_ui.notices] == ["[redacted]"]
    assert isinstance(session.ctx.secrets, SecretValues)
    assert "inline-2" in [each.source for each in session.ctx.secrets.known() if each.value == "token-of-server"]


def test_no_repr_has_a_value(secrets, auth):
    secrets.add("token-of-server")
    output = f"{secrets!r} {secrets.known()!r} {auth!r}"

    assert not [value for value in auth.known_secrets() if value in output]
    assert "SHOP_API_KEY" in output


async def test_the_output_of_a_configured_command_is_a_secret_from_then_on(secrets):
    value = await secrets.resolve("!echo printed-by-command")

    assert value == "printed-by-command"
    assert secrets.redact("printed-by-command") == "[redacted]"


async def test_a_variable_is_resolved_and_other_text_is_meant_as_it_is(secrets):
    resolved = [await secrets.resolve(value) for value in ("$HOME/bin", "a literal", "$NOT_SET")]

    assert resolved == ["/home/somebody/bin", "a literal", None]
    assert secrets.redact("a literal in /home/somebody/bin") == "a literal in /home/somebody/bin"


async def test_a_command_that_fails_is_named_without_its_output(secrets):
    with pytest.raises(UserError, match="exit code 3") as raised:
        await secrets.resolve("!echo half-a-secret; exit 3")

    assert secrets.redact("half-a-secret") == "half-a-secret"
    assert str(raised.value).count("half-a-secret") == 1  # in the command, which the message names


def test_what_is_no_text_is_refused_without_its_value(secrets):
    with pytest.raises(PluginError, match="not bytes") as raised:
        secrets.add(b"token-of-server")

    assert "token-of-server" not in str(raised.value)


async def test_keys_and_secret_headers_of_requests_are_known_and_other_headers_are_not(auth, tmp_path):
    host = PluginHost(Settings.in_memory({}, agent_dir=tmp_path), installed=False)
    models = ModelRegistry(host, host.settings, {"CREDENTIAL": "value-of-variable"}, auth=auth)
    headers = {"X-Api-Key": "key-in-header", "X-Version": "version-header", "Authorization": "Bearer token-in-header"}
    model = {"id": "m", "name": "M"}
    config = {"baseUrl": "http://localhost", "api": "a", "apiKey": "!echo key-of-command", "models": [model]}
    models.register_provider("acme2", {**config, "headers": headers})
    await models.get_api_key_and_headers(models.get_model("acme2", "m"))

    text = "key-of-command key-in-header token-in-header version-header"

    assert secrets_of(auth).redact(text) == "[redacted] [redacted] [redacted] version-header"


SECRET, OTHER = st.text("xyz", min_size=6, max_size=12), st.text("xyz ", max_size=8)


@given(st.lists(SECRET, max_size=5), st.lists(OTHER, min_size=6, max_size=6))
def test_no_secret_is_left_in_a_text_made_of_secrets(values, between):
    secrets = secrets_of(AuthStorage.in_memory(environ={}))
    for value in values:
        secrets.add(value)
    redacted = secrets.redact("".join(a + b for a, b in zip(between, [*values, ""], strict=False)))

    assert not [value for value in values if value in redacted]


class Stars:
    """Replaces a word by stars."""

    def __init__(self, word):
        self.word = word

    @hookimpl
    def register_services(self):
        return [self]

    def redact(self, text, settings, secrets):
        return text.replace(self.word, "*" * len(self.word))


class Fails(Stars):
    def redact(self, text, settings, secrets):
        raise ValueError(text)


class AnswersNothing(Stars):
    def redact(self, text, settings, secrets):
        return None


def test_clean_asks_every_plugin_that_takes_secrets_out():
    secrets = secrets_of(AuthStorage.in_memory(environ={}), Stars("one"), Stars("two"))

    assert secrets.clean("one and two") == "*** and ***"


def test_clean_replaces_known_secrets_without_such_a_plugin(auth):
    text = "nothing secret"

    assert secrets_of(auth).clean("it is key-of-acme") == "it is [redacted]"
    assert secrets_of(auth).clean(text) is text


@pytest.mark.parametrize("plugin", [Fails(""), AnswersNothing("")])
def test_a_plugin_that_fails_keeps_the_text_from_being_written(plugin):
    secrets = secrets_of(AuthStorage.in_memory(environ={}), plugin)

    with pytest.raises(PiError, match="Plugin 'plugin0' failed to redact a text") as failure:
        secrets.clean("my secret")
    assert "my secret" not in str(failure.value)


SECRETS = (
    "ghp_" + "a1B2" * 9,
    "word one two",
    "x" * 900,
    "-----BEGIN KEY-----\n" + "ab12\n" * 300 + "-----END KEY-----",
)
WORDS = st.sampled_from([*SECRETS, " ", "\n", "plain", "of words ", "é" * 30 + " ", "w " * 150])


@given(st.lists(WORDS, max_size=12), st.randoms())
def test_no_secret_passes_a_stream_wherever_it_is_cut(parts, chance):
    def clean(text):
        for secret in SECRETS:
            text = text.replace(secret, "[secret]")
        return text

    whole, stream, written = "".join(parts), CleanStream(clean), ""
    while whole:
        cut = chance.choice((1, 7, 150, 5000))
        written += stream.feed(whole[:cut])
        whole = whole[cut:]
    written += stream.end()

    assert written == clean("".join(parts))


def test_a_key_whose_last_line_is_cut_does_not_pass_a_stream():
    key = "-----BEGIN KEY-----\n" + "ab12\n" * 300 + "-----END KEY-----"
    stream = CleanStream(lambda text: text.replace(key, "[secret]"))

    written = stream.feed(key[:-7]) + stream.feed(key[-7:]) + stream.end()

    assert written == "[secret]"


@given(st.lists(WORDS, max_size=40), st.integers(1000, 40_000))
def test_a_stream_goes_through_a_text_once(parts, size):
    cleaned = []

    def clean(text):
        cleaned.append(len(text))
        return text.replace("word one two", "[secret]")

    whole, stream = ("".join(parts) + "\n") * 50, CleanStream(clean)
    pieces = [whole[begin : begin + size] for begin in range(0, len(whole), size)]
    for piece in pieces:
        stream.feed(piece)
    stream.end()

    longest_rest = 1100  # what is held back: the last characters, and a word that may go on
    times = 8 if "word one two" in whole else 1  # a secret may reach over the places at which it could be cut
    assert sum(cleaned) <= times * len(whole) + 4 * longest_rest * (len(pieces) + 1)


@pytest.mark.parametrize("size", [1, 7, 1000, 40_000])
def test_a_stream_in_which_every_blank_is_in_a_secret_is_cleaned_a_few_times(size):
    cleaned = []

    def clean(text):
        cleaned.append(len(text))
        return text.replace("word one two", "[secret]")

    whole, stream = "word one two" * 4_000, CleanStream(clean)
    written = "".join(stream.feed(whole[begin : begin + size]) for begin in range(0, len(whole), size)) + stream.end()

    assert "word" not in written.replace("[secret]", "") or size < len(whole)
    assert sum(cleaned) <= 12 * len(whole)


def test_a_stream_holds_back_little():
    stream = CleanStream(str)
    written = "".join(stream.feed("some words and ") for _ in range(1000))

    assert 15 * 1000 - 300 < len(written) < 15 * 1000
