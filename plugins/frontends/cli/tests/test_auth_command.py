"""``pi auth`` without a network: keys that are stored, asked about and printed, and everything that can be wrong."""

from __future__ import annotations

import json
import os
import time

import pytest

pytestmark = pytest.mark.slow  # each starts programs that take seconds

PLUGIN = '''
import time

from pi_hookspecs import Model, ProviderInfo, RequestFailed, hookimpl


class Login:
    """Signs in without asking anybody."""

    name = "club"

    async def login(self, ui):
        ui.notify("Welcome\\x1b[31m to the club")
        if await ui.confirm("Fail?"):
            raise RequestFailed("418 no tea")
        return {"access": "club-token", "refresh": "r", "expires": 4102444800000, "seat": await ui.input("Seat")}

    async def refresh(self, credential):
        if credential["refresh"] == "renewable":
            return {"access": "renewed", "expires": (time.time() + 3600) * 1000}
        raise RequestFailed("Connection error. Nothing answers at club.test:443")

    def api_key(self, credential):
        return "sent-" + credential["access"]


@hookimpl
def register_logins():
    return [Login()]


@hookimpl
def register_models():
    rows = {"club": {}, "shop": {"key_variables": ("SHOP_KEY",)}, "open": {"keyless": True}}
    return [
        ProviderInfo(id=id, name=id, api="x", models=(Model(id="m", name="m", api="x", provider=id),), **more)
        for id, more in rows.items()
    ]
'''


@pytest.fixture
def auth(pi, knows):
    knows("club", PLUGIN)

    def run(*arguments, **options):
        return pi.run("auth", *arguments, **options)

    run.store = lambda **entries: (pi.agent_dir / "auth.json").write_text(json.dumps(entries))
    run.stored = lambda: json.loads((pi.agent_dir / "auth.json").read_text())
    run.agent_dir = pi.agent_dir
    return run


def one_error(done):
    lines = [line for line in done.stderr.splitlines() if line.startswith("Error: ")]
    assert len(lines) == 1, done.stderr
    return lines[0]


# Login


def test_a_login_stores_what_the_plugin_returns(auth):
    done = auth("login", "Club", stdin="n\n12\n")

    assert (done.returncode, done.stdout) == (0, "")
    assert r"Welcome\x1b[31m to the club" in done.stderr
    assert auth.stored()["club"] == {
        "access": "club-token",
        "refresh": "r",
        "expires": 4102444800000,
        "seat": "12",
        "type": "oauth",
    }
    assert "club-token" not in done.stderr


def test_a_failed_login_leaves_what_is_stored(auth):
    auth.store(club={"type": "oauth", "access": "before"})

    done = auth("login", "club", stdin="y\n")

    assert done.returncode == 1
    assert one_error(done) == "Error: The login to club failed: 418 no tea. Run pi auth login club again."
    assert auth.stored() == {"club": {"type": "oauth", "access": "before"}}


def test_a_key_comes_from_a_pipe_and_is_not_shown(auth):
    auth.store(other={"type": "api_key", "key": "k", "new": [1]})

    done = auth("login", "shop", stdin="  sk-secret-1 \n")

    assert done.returncode == 0
    assert "sk-secret-1" not in done.stdout + done.stderr
    assert auth.stored() == {
        "other": {"type": "api_key", "key": "k", "new": [1]},
        "shop": {"type": "api_key", "key": "sk-secret-1"},
    }


def test_a_provider_with_a_login_takes_a_key_where_asked(auth):
    assert auth("login", "club", "--key", stdin="sk-1").returncode == 0
    assert auth.stored()["club"] == {"type": "api_key", "key": "sk-1"}


def test_without_a_command_the_usable_providers_are_listed(auth):
    auth("login", "shop", stdin="sk-secret-1")

    done = auth()

    assert (done.returncode, done.stdout) == (0, auth("list").stdout)
    assert done.stdout.startswith("shop: ready")
    assert done.stderr == "pi auth login signs in or stores a key; pi auth --help describes all commands.\n"


@pytest.mark.parametrize(
    ("arguments", "stdin", "message"),
    [
        (["login"], "", "Name the provider: pi auth login PROVIDER. These have a login:"),
        (["login", "shop"], "", "No key was given for shop"),
        (["login", "shop"], "two words", "characters that a key cannot contain"),
        (["login", "shop"], b"\xff\xfe", "characters that a key cannot contain"),
        (["login", "open"], "k", "open needs no key"),
        (["login", "shoop"], "", "Unknown provider: shoop. Did you mean shop"),
        (["login", "a", "b"], "", "takes one provider, not 2"),
        (["logout"], "", "There are no stored credentials."),
        (["logout", "shoop"], "", "Nothing is stored for 'shoop', which is no provider. There are no"),
        (["logout", "--model", "shop/m"], "", "takes a provider, not a model"),
        (["print-api-key", "--credentials", "shop"], "", "--credentials is an option of pi auth check"),
        (["logout", "--no-browser"], "", "--no-browser is an option of pi auth login"),
        (["chek"], "", "Did you mean check?"),
        (["print-api-key"], "", "needs a provider"),
        (["print-api-key", "club"], "", "Sign in: pi auth login club"),
        (["print-api-key", "open"], "", "open has no key: it needs none"),
        (["print-bearer-token", "club"], "", "There is no login for club"),
        (["login", "--browser"], "", "Did you mean --no-browser or --provider?"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_what_cannot_be_done_is_reported_in_a_line(auth, arguments, stdin, message):
    done = auth(*arguments, stdin=stdin)

    assert done.returncode == 1
    assert message in one_error(done)
    assert not (auth.agent_dir / "auth.json").exists()


@pytest.mark.parametrize("arguments", [["--help"], ["login", "-h"], ["check", "--help"]], ids=" ".join)
def test_help_names_the_commands_and_what_check_exits_with(auth, arguments):
    done = auth(*arguments)

    assert done.returncode == 0
    assert "0 ready, 1 not ready, 2 invalid" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_the_command_is_in_pi_s_help(pi):
    assert "  auth " in pi.run("--help").stdout


# Logout


def test_logout_removes_one_entry_and_names_a_key_that_still_counts(auth):
    auth.store(shop={"type": "api_key", "key": "k"}, other={"type": "api_key", "key": "2"})

    done = auth("logout", "SHOP", SHOP_KEY="from environment")

    assert done.returncode == 0
    assert "A key in the environment or in models.json is still used." in done.stderr
    assert auth.stored() == {"other": {"type": "api_key", "key": "2"}}


# Check


@pytest.mark.parametrize(
    ("stored", "environ", "code", "message"),
    [
        ({}, {}, 1, "shop: not ready: No API key found for shop. Set SHOP_KEY."),
        ({}, {"SHOP_KEY": "k"}, 0, "shop: ready (SHOP_KEY)"),
        ({"shop": {"type": "api_key", "key": "k"}}, {}, 0, "shop: ready (API key in auth.json)"),
        ({"shop": {"type": "api_key", "key": "!exit 3"}}, {}, 2, "shop: invalid: The key command 'exit 3' failed"),
        ({"shop": {"type": "api_key"}}, {"SHOP_KEY": "k"}, 2, "shop: invalid: auth.json has an entry without 'key'."),
        ({"shop": {"type": "magic"}}, {}, 2, "shop: invalid: auth.json has an entry whose type is 'magic'"),
        ({"shop": {"type": "oauth", "access": ""}}, {}, 2, "shop: invalid: auth.json has an entry without 'access'."),
        ({"shop": {"type": "oauth", "access": "a", "expires": 1}}, {}, 1, "no installed plugin can refresh it"),
        ({"shop": {"type": "oauth", "access": "a", "expires": float("inf")}}, {}, 0, "shop: ready (signed in)"),
        ({"shop": {"type": "oauth", "access": "a", "expires": float("nan")}}, {}, 0, "shop: ready (signed in)"),
    ],
    ids="nothing variable stored command no-key unknown-type no-token no-plugin for-ever no-number".split(),
)
def test_check_reports_the_state_of_a_provider(auth, stored, environ, code, message):
    auth.store(**stored)

    done = auth("check", "shop", **environ)

    assert (done.returncode, message in done.stdout) == (code, True), done.stdout


def test_a_login_is_ready_until_it_expires_and_cannot_be_renewed(auth):
    entry = {"type": "oauth", "access": "a", "refresh": "r", "expires": 4102444800000}
    auth.store(club=entry)
    ready = auth("check", "club")
    auth.store(club={**entry, "expires": 1})
    expired = auth("check", "club")

    assert (ready.returncode, ready.stdout.partition(",")[0]) == (0, "club: ready (signed in")
    assert expired.returncode == 1
    assert "club: not ready: Authentication failed" in expired.stdout
    assert auth.stored()["club"]["refresh"] == "r"


def test_check_of_all_lists_what_is_configured(auth):
    nothing = auth("check")
    auth.store(shop={"type": "api_key", "key": "k"}, unknown={"type": "api_key", "key": "k"})
    one = auth("check")
    listed = auth("list")
    auth.store(shop={"type": "magic"}, club={"type": "api_key", "key": "k"})
    invalid = auth("check")

    assert nothing.returncode == 1
    assert "no provider has a key or a login" in nothing.stdout
    assert (one.returncode, "shop: ready" in one.stdout) == (0, True)
    assert "unknown: not ready: Unknown provider" in one.stdout
    assert (listed.returncode, listed.stdout) == (one.returncode, one.stdout)
    assert (invalid.returncode, invalid.stdout.count("\n")) == (2, 2)


@pytest.mark.parametrize("arguments", [["check", "nobody"], ["check", "a", "b"], ["check", "--nope"]], ids=" ".join)
def test_check_exits_with_2_where_the_question_is_wrong(auth, arguments):
    done = auth(*arguments)

    assert done.returncode == 2
    assert one_error(done)


@pytest.mark.parametrize("action", ["login", "logout", "check"])
def test_a_broken_file_is_reported_before_any_question_and_left_alone(auth, action):
    (auth.agent_dir / "auth.json").write_text('{"shop": "sk-secret"')

    done = auth(action, "shop", stdin="k\n")

    assert done.returncode == (2 if action == "check" else 1)
    assert "auth.json: cannot be used" in one_error(done)
    assert "sk-secret" not in done.stderr
    assert (auth.agent_dir / "auth.json").read_text() == '{"shop": "sk-secret"'


def test_a_broken_file_is_reported_and_the_key_looked_up_elsewhere(auth):
    (auth.agent_dir / "auth.json").write_text("{")

    found = auth("print-api-key", "shop", SHOP_KEY="k")
    missing = auth("print-bearer-token", "club")

    assert (found.returncode, found.stdout) == (0, "k\n")
    assert missing.returncode == 1
    for done in (found, missing):
        assert "auth.json: cannot be used" in done.stderr


@pytest.mark.parametrize("key", ["two words", "k\u00e9y", "k" * 100_000], ids=["words", "letters", "long"])
def test_what_can_be_no_key_is_refused_and_not_repeated(auth, key):
    done = auth("login", "shop", stdin=f"{key}\n")

    assert done.returncode == 1
    assert one_error(done).endswith("nothing has changed.")
    assert key not in done.stderr


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() == 0, reason="root may write everywhere")
def test_an_unwritable_folder_is_reported(auth):
    auth.agent_dir.chmod(0o500)
    try:
        done = auth("login", "shop", stdin="k\n")
    finally:
        auth.agent_dir.chmod(0o700)

    assert done.returncode == 1
    assert "Make its folder writable" in one_error(done)


def test_logout_of_what_is_not_stored_can_be_repeated(auth):
    done = auth("logout", "shop")

    assert done.returncode == 0
    assert "Nothing is stored for 'shop'. There are no stored credentials." in done.stdout + done.stderr


# Answers for programs, as the original gives them

KEY = {"type": "api_key", "key": "sk-1"}
LOGIN = {"type": "oauth", "access": "a", "refresh": "r", "expires": 4102444800000}


@pytest.mark.parametrize(
    ("stored", "arguments", "code", "word", "answer"),
    [
        ({"shop": KEY}, ["--provider", "SHOP"], 0, "ready", {"provider": "shop", "authType": "api_key"}),
        ({"shop": KEY}, ["--model", "shop/m"], 0, "ready", {"provider": "shop", "authType": "api_key"}),
        ({"club": LOGIN}, ["--provider", "club"], 0, "ready", {"provider": "club", "authType": "oauth"}),
        ({}, ["--provider", "shop"], 1, "not_ready", {"provider": "shop", "reason": "credentials_not_configured"}),
        ({}, ["--provider", "none"], 1, "not_ready", {"provider": "none", "reason": "provider_not_found"}),
        ({}, ["--model", "none/x"], 2, "invalid", {"provider": "none/x", "reason": "invalid_state"}),
        (
            {"shop": {"type": "x"}},
            ["--provider", "shop"],
            2,
            "invalid",
            {"provider": "shop", "reason": "invalid_state"},
        ),
    ],
)
def test_a_program_is_answered_in_a_word_or_an_object(auth, stored, arguments, code, word, answer):
    auth.store(**stored)

    plain, as_json = auth("check", *arguments), auth("check", *arguments, "--json")

    assert (plain.returncode, plain.stdout) == (code, f"{word}\n")
    assert (as_json.returncode, json.loads(as_json.stdout)) == (code, {"status": word, **answer})


def test_credentials_are_printed_only_where_they_are_asked_for(auth):
    auth.store(shop=KEY)

    assert "sk-1" not in auth("check", "--provider", "shop", "--json").stdout
    assert auth("check", "--provider", "shop", "--credentials").stdout == "sk-1\n"
    assert json.loads(auth("check", "--model", "shop/m", "--json", "--credentials").stdout)["credentials"] == "sk-1"
    assert "needs --provider or --model" in one_error(auth("check", "shop", "--credentials"))


def test_a_login_that_has_expired_is_renewed_unless_it_must_not_be(auth):
    auth.store(club={**LOGIN, "refresh": "renewable", "expires": 1})

    kept = auth("check", "--provider", "club", "--credentials", "--no-refresh")
    renewed = auth("check", "--provider", "club", "--credentials")

    assert (kept.returncode, kept.stdout) == (0, "a\n")
    assert (renewed.returncode, renewed.stdout) == (0, "sent-renewed\n")


def test_the_key_of_a_model_s_provider_is_printed(auth):
    assert auth("print-api-key", "--model", "shop/m", SHOP_KEY="sk-1").stdout == "sk-1\n"


def test_a_key_is_stored_by_the_original_s_name_of_the_option(auth):
    auth("login", "club", "--api-key", stdin="sk-9\n")

    assert auth("print-api-key", "club").stdout == "sk-9\n"


# Printing


def test_a_key_is_printed_and_nothing_else(auth):
    stored = auth("print-api-key", "shop", SHOP_KEY="sk-1")
    auth.store(club={"type": "oauth", "access": "a", "refresh": "r", "expires": 4102444800000})
    token = auth("print-bearer-token", "club")
    wrong = auth("print-api-key", "club")

    assert (stored.returncode, stored.stdout) == (0, "sk-1\n")
    assert (token.returncode, token.stdout) == (0, "a\n")
    assert (wrong.returncode, wrong.stdout) == (1, "")
    assert "See pi auth print-bearer-token club" in one_error(wrong)


def test_a_token_that_expires_too_soon_is_renewed_before_it_is_printed(auth):
    soon = (time.time() + 600) * 1000
    auth.store(club={"type": "oauth", "access": "a", "refresh": "renewable", "expires": soon})
    still_good = auth("print-bearer-token", "club", "--min-expiry", "5m")
    renewed = auth("print-bearer-token", "--provider", "club", "--min-expiry", "30m")
    too_long = auth("print-bearer-token", "club", "--min-expiry", "2h")
    wrong = auth("print-bearer-token", "club", "--min-expiry", "soon")
    elsewhere = auth("check", "club", "--min-expiry", "5m")

    assert (still_good.returncode, still_good.stdout) == (0, "a\n")
    assert (renewed.returncode, renewed.stdout) == (0, "renewed\n")
    assert (too_long.returncode, too_long.stdout) == (1, "")
    assert "is valid for only 60 min" in one_error(too_long)
    assert "such as 30m, not 'soon'" in one_error(wrong)
    assert "--min-expiry is an option of pi auth print-bearer-token" in one_error(elsewhere)


def test_states_are_printed_as_json_with_the_same_exit_codes(auth):
    nothing = auth("check", "--json")
    auth.store(shop={"type": "api_key", "key": "k"}, club={"type": "oauth"})
    ready, both = auth("check", "shop", "--json"), auth("check", "--json")

    assert (nothing.returncode, json.loads(nothing.stdout)) == (1, [])
    shop = {"provider": "shop", "state": "ready", "detail": "(API key in auth.json)"}
    assert (ready.returncode, json.loads(ready.stdout)) == (0, [shop])
    assert both.returncode == 2
    assert [(row["provider"], row["state"]) for row in json.loads(both.stdout)] == [
        ("club", "invalid"),
        ("shop", "ready"),
    ]
