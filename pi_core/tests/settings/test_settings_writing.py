"""Settings are changed in one step, under a lock, and nothing that another process wrote is lost."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_core import SettingsManager, TrustStore
from pi_core.settings import Settings
from pi_core.settings.schema_info import KnownSettings
from pi_hookspecs import PiError, UserError
from pi_testing.patience import PATIENCE

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@pytest.fixture
def place(tmp_path):
    """Settings of a trusted project, and its two files."""

    class Place:
        home, project = tmp_path / "agent", tmp_path / "project"
        mine, ours = home / "settings.json", project / ".pi" / "settings.json"

        def load(self, **how):
            return Settings.load(self.project, self.home, **{"trust": True, "environ": {}, **how})

        def write(self, text, file=None):
            file = file or self.mine
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text if isinstance(text, str) else json.dumps(text), encoding="utf-8")

        def read(self, file=None):
            return json.loads((file or self.mine).read_text(encoding="utf-8"))

    return Place()


@pytest.fixture
def no_mask():
    """Files are born with all the permissions that they are made with."""
    before = os.umask(0)
    yield
    os.umask(before)


class TestSetting:
    def test_the_first_value_makes_folder_and_file(self, place):
        settings = place.load()

        settings.set("theme", "dark")

        assert place.mine.read_text() == '{\n  "theme": "dark"\n}\n'
        assert settings.get("theme") == "dark"
        assert settings.place("theme") == f"{place.mine}:2"

    def test_a_value_can_belong_to_the_project(self, place):
        settings = place.load()
        settings.set("theme", "dark")

        settings.set("theme", "light", "project")

        assert (place.read(), place.read(place.ours)) == ({"theme": "dark"}, {"theme": "light"})
        assert settings.get("theme") == "light"

    def test_objects_on_the_way_are_made(self, place):
        place.load().set(("hooks", "plugins", "a.b", "timeout"), 5)

        assert place.read() == {"hooks": {"plugins": {"a.b": {"timeout": 5}}}}

    def test_order_and_unknown_keys_stay(self, place):
        place.write({"zeta": {"z": 1, "a": [1, {"b": None}]}, "theme": "dark", "alpha": "ä\ud800"})

        place.load().set("theme", "light")

        assert list(place.read().items()) == [
            ("zeta", {"z": 1, "a": [1, {"b": None}]}),
            ("theme", "light"),
            ("alpha", "ä\ud800"),
        ]

    def test_what_others_wrote_meanwhile_stays(self, place):
        settings = place.load()
        place.write({"externalEditor": "vi"})

        settings.set("theme", "dark")

        assert place.read() == {"externalEditor": "vi", "theme": "dark"}
        assert settings.get("externalEditor") == "vi"

    def test_old_names_are_written_anew_in_their_place(self, place):
        place.write({"queueMode": "all", "x": 1})

        place.load().set("theme", "dark")

        assert list(place.read().items()) == [("steeringMode", "all"), ("x", 1), ("theme", "dark")]

    def test_null_hides_what_is_below(self, place):
        settings = place.load()
        settings.set("theme", "dark")

        settings.set("theme", None, "project")

        assert settings.get("theme") is None
        assert place.read(place.ours) == {"theme": None}

    def test_what_is_set_already_is_not_written_again(self, place):
        settings = place.load()
        settings.set("theme", "dark")
        before = place.mine.stat().st_ino

        settings.set("theme", "dark")

        assert place.mine.stat().st_ino == before

    def test_no_lock_and_no_draft_is_left(self, place):
        place.load().set("theme", "dark")

        assert [each.name for each in place.home.iterdir()] == ["settings.json"]

    def test_a_link_stays_a_link(self, place, tmp_path):
        place.home.mkdir()
        target = tmp_path / "dotfiles.json"
        target.write_text("{}")
        place.mine.symlink_to(target)

        place.load().set("theme", "dark")

        assert place.mine.is_symlink()
        assert json.loads(target.read_text()) == {"theme": "dark"}

    @pytest.mark.skipif(sys.platform == "win32", reason="no such permissions")
    def test_the_users_own_folder_is_made_for_the_user_alone(self, place):
        place.load().set("theme", "dark")

        assert stat.S_IMODE(place.home.stat().st_mode) == 0o700

    @pytest.mark.skipif(sys.platform == "win32", reason="no such permissions")
    def test_permissions_stay(self, place):
        place.write({})
        place.mine.chmod(0o640)

        place.load().set("theme", "dark")

        assert stat.S_IMODE(place.mine.stat().st_mode) == 0o640

    @pytest.mark.skipif(sys.platform == "win32", reason="no such permissions")
    @pytest.mark.parametrize(
        ("scope", "mode"), [("global", 0o600), ("project", 0o644)], ids=["the user's", "the project's"]
    )
    def test_a_new_file_is_not_writable_by_others_whatever_the_mask(self, place, no_mask, scope, mode):
        settings = place.load()
        settings.set("theme", "dark", scope)

        assert stat.S_IMODE(Path(settings.origin("theme")).stat().st_mode) == mode

    @pytest.mark.skipif(sys.platform == "win32", reason="no such permissions")
    def test_write_permission_of_others_is_taken_from_the_user_s_file(self, place):
        place.write({})
        place.mine.chmod(0o666)

        place.load().set("theme", "dark")

        assert stat.S_IMODE(place.mine.stat().st_mode) == 0o644

    @pytest.mark.skipif(sys.platform == "win32", reason="no such permissions")
    def test_trust_json_is_for_the_user_alone_whatever_the_mask(self, place, no_mask):
        store = TrustStore(place.home)
        store.remember(place.home, trusted=True)

        assert stat.S_IMODE(store.file.stat().st_mode) == 0o600

    def test_settings_in_memory_change_in_memory(self, tmp_path):
        settings = Settings.in_memory({"theme": "dark"}, tmp_path)

        settings.set("theme", "light")
        settings.set("quietStartup", True, "project")

        assert settings.all() == {"theme": "light", "quietStartup": True}
        assert list(tmp_path.iterdir()) == []

    @given(key=st.lists(st.text(min_size=1, max_size=4), min_size=1, max_size=3), value=JSON)
    def test_what_is_set_is_what_is_read(self, tmp_path_factory, key, value):
        if key[0] in KnownSettings().json_schema["properties"]:
            return
        folder = tmp_path_factory.mktemp("agent")

        Settings.load(folder, folder, trust=False).set(key, value)

        assert Settings.load(folder, folder, trust=False).get(key) == value


class TestUnsetting:
    def test_the_value_and_empty_objects_go(self, place):
        place.write({"retry": {"provider": {"maxRetries": 1}}, "theme": "dark"})
        settings = place.load()

        assert settings.unset("retry.provider.maxRetries") is True
        assert place.read() == {"theme": "dark"}
        assert settings.get("retry") is None

    def test_the_key_next_to_it_stays(self, place):
        place.write({"retry": {"maxRetries": 1, "enabled": True}})

        assert place.load().unset("retry.maxRetries") is True
        assert place.read() == {"retry": {"enabled": True}}

    @pytest.mark.parametrize("key", ["theme", "theme.x", "retry.maxRetries", "retry.enabled.x"])
    def test_what_is_missing_is_reported(self, place, key):
        place.write({"retry": {"enabled": True}})

        assert place.load().unset(key) is False
        assert place.read() == {"retry": {"enabled": True}}


class TestRefusals:
    @pytest.mark.parametrize(
        ("key", "value", "message"),
        [
            (
                "httpIdleTimeoutMs",
                "many",
                "Setting 'httpIdleTimeoutMs' must be a whole number of at least 0, not \"many\".",
            ),
            ("hooks", {"timeout": -1}, "Setting 'hooks.timeout' must be a number of at least 0.001, not -1."),
            ("steeringMode", "both", "Setting 'steeringMode' must be one-at-a-time or all, not \"both\"."),
            ("extensions", ["a", 1], "Setting 'extensions.1' must be a string, not 1."),
            ("theme.dark", 1, "Setting 'theme' is a string; there is no 'theme.dark'."),
            ("my.thing", {1, 2}, "Setting 'my.thing' cannot be written as JSON: root: must be JSON, not set."),
            ("my.thing", float("nan"), "Setting 'my.thing' cannot be written as JSON: root: must be number."),
            ("a..b", 1, "'a.\"\".b' is not the name of a setting"),
            ("", 1, "'\"\"' is not the name of a setting"),
        ],
    )
    def test_a_value_that_does_not_fit_is_not_written(self, place, key, value, message):
        with pytest.raises(UserError) as refused:
            place.load().set(key, value)

        assert str(refused.value) == message
        assert not place.mine.exists()

    def test_a_project_cannot_be_given_its_own_trust(self, place):
        with pytest.raises(UserError, match="only your own settings may set it"):
            place.load().set("defaultProjectTrust", "always", "project")

    def test_a_broken_file_is_not_overwritten(self, place):
        place.write('{"theme": "dark",\n oops}')

        with pytest.raises(UserError) as refused:
            place.load().set("theme", "light")

        assert str(refused.value).startswith(f"{place.mine}:2:2: Expecting property name")
        assert str(refused.value).endswith("Nothing was changed; repair or remove the file first.")
        assert place.mine.read_text() == '{"theme": "dark",\n oops}'
        assert not place.mine.with_name("settings.json.lock").exists()

    def test_what_is_no_object_is_not_replaced_by_one(self, place):
        place.write({"mine": 5})

        with pytest.raises(UserError, match=r"Setting 'mine' is 5, not an object\. Unset it first\."):
            place.load().set("mine.more", 1)

        assert place.read() == {"mine": 5}

    @pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may write everywhere")
    def test_an_unwritable_folder_is_reported(self, place):
        place.home.mkdir(mode=0o500)

        with pytest.raises(UserError, match="Permission denied"):
            place.load().set("theme", "dark")

    def test_a_folder_that_cannot_be_created_is_reported(self, place, tmp_path):
        place.home.write_text("a file")

        with pytest.raises(UserError, match=r"settings\.json: cannot be written: .*Nothing was changed\."):
            place.load().set("theme", "dark")

    def test_a_directory_in_the_way_is_reported(self, place):
        place.mine.mkdir(parents=True)

        with pytest.raises(UserError, match="it is a directory"):
            place.load().set("theme", "dark")

    def test_links_in_a_cycle_are_reported(self, place):
        place.home.mkdir()
        place.mine.symlink_to(place.mine)

        with pytest.raises(UserError, match=r"settings\.json: cannot be"):
            place.load().set("theme", "dark")

    def test_a_held_lock_is_waited_for_and_then_reported(self, place, monkeypatch):
        lock = place.home / "settings.json.lock"
        lock.mkdir(parents=True)
        clock = iter(range(0, 1000, 4))
        monkeypatch.setattr("pi_core.base.directory_lock.time.monotonic", lambda: next(clock))

        with pytest.raises(PiError, match="held by another process"):
            place.load().set("theme", "dark")

        assert lock.is_dir()
        assert not place.mine.exists()

    def test_a_lock_of_a_process_that_died_is_broken(self, place):
        lock = place.home / "settings.json.lock"
        lock.mkdir(parents=True)
        os.utime(lock, (time.time() - 60, time.time() - 60))

        place.load().set("theme", "dark")

        assert place.read() == {"theme": "dark"}
        assert not lock.exists()


WRITER = """
import sys
from pi_core.settings import Settings

name, folder = sys.argv[1:]
settings = Settings.load(folder, folder, trust=False)
sys.stdin.readline()
for number in range(40):
    settings.set((name, str(number)), number)
"""


@pytest.mark.slow
def test_two_processes_that_write_at_once_lose_nothing(tmp_path):
    command = [sys.executable, "-c", WRITER]
    writers = [subprocess.Popen([*command, name, tmp_path], stdin=subprocess.PIPE) for name in ("one", "two")]

    for writer in writers:
        writer.stdin.write(b"\n")
        writer.stdin.close()
    codes = [writer.wait(PATIENCE) for writer in writers]

    assert codes == [0, 0]
    expected = {str(number): number for number in range(40)}
    assert json.loads((tmp_path / "settings.json").read_text()) == {"one": expected, "two": expected}


class TestStorageOfOnesOwn:
    def test_document_001s_names(self, tmp_path):
        kept = {"global": '{"theme": "dark"}', "project": '{"quietStartup": true}'}

        class Storage:
            def origin(self, scope):
                return f"{scope} table"

            def read(self, scope):
                return kept.get(scope)

            def change(self, scope, edit):
                kept[scope] = edit(kept.get(scope))

        settings = SettingsManager.from_storage(Storage(), tmp_path, tmp_path, trust=True)
        settings.set("theme", "light")

        assert json.loads(kept["global"]) == {"theme": "light"}
        assert settings.get("quietStartup") is True
        assert settings.origin("theme") == "global table"
        assert SettingsManager.create(tmp_path, tmp_path).all() == SettingsManager.in_memory({}, tmp_path).all() == {}
