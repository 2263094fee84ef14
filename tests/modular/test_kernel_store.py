"""Machine code on disk: read only where it is whole and ours."""

import os
import random
import stat
import time
from pathlib import Path

import pytest

from modular import kernel_store
from modular.kernel import own_store
from modular.kernel_store import MAX_UNUSED_DAYS, MIN_KEPT_FOLDERS, SUFFIX, KernelStore, open_store, tidy

posix = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="folders of a user are guarded by Windows itself")


def test_one_flipped_bit_anywhere_and_every_shorter_file_is_found_out(tmp_path: Path):
    store, content = KernelStore(tmp_path), bytes(range(256)) * 3
    store.save("some.kernel", content)
    assert store.load("some.kernel") == content
    path = tmp_path / "some.kernel"
    whole = path.read_bytes()
    lots = random.Random(21)
    for bit in [*range(8 * 60), *(lots.randrange(8 * len(whole)) for _ in range(200))]:
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(bytes(damaged))
        assert store.load("some.kernel") is None
    for length in (0, 1, 20, len(whole) - 1):
        path.write_bytes(whole[:length])
        assert store.load("some.kernel") is None
    path.write_bytes(whole + b"\0")
    assert store.load("some.kernel") is None


def test_a_file_under_the_name_of_another_is_none_of_ours(tmp_path: Path):
    store = KernelStore(tmp_path)
    store.save("one.kernel", b"code of one")
    (tmp_path / "one.kernel").rename(tmp_path / "two.kernel")
    assert store.load("two.kernel") is None


@posix
def test_folders_and_files_are_for_their_owner_alone_whatever_the_mask(tmp_path: Path):
    before = os.umask(0o002)
    try:
        store = open_store(tmp_path / "root", "a" * 24)
        assert store is not None
        store.save("some.kernel", b"code")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "root").stat().st_mode) == 0o700
    assert stat.S_IMODE(store.folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((store.folder / "some.kernel").stat().st_mode) == 0o600
    assert store.load("some.kernel") == b"code"


@posix
@pytest.mark.parametrize("mode", [0o770, 0o702, 0o777])
@pytest.mark.parametrize("which", ["root", "folder"])
def test_a_folder_that_others_may_write_to_is_refused_with_the_remedy(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, mode: int, which: str
):
    root = tmp_path / "root"
    store = open_store(root, "a" * 24)
    assert store is not None
    (root if which == "root" else store.folder).chmod(mode)
    assert open_store(root, "a" * 24) is None
    assert "chmod 700" in caplog.text and "MODULAR_CACHE_DIR" in caplog.text


@posix
def test_a_file_that_others_may_write_to_is_not_read(tmp_path: Path):
    store = KernelStore(tmp_path)
    store.save("some.kernel", b"code")
    (tmp_path / "some.kernel").chmod(0o660)
    assert store.load("some.kernel") is None
    # guarded with the package that it came with
    assert KernelStore(tmp_path, shipped=True).load("some.kernel") == b"code"


@posix
def test_what_somebody_else_owns_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    store = open_store(tmp_path / "root", "a" * 24)
    assert store is not None
    store.save("some.kernel", b"code")
    if os.geteuid() == 0:
        os.chown(store.folder / "some.kernel", 12345, -1)
        assert store.load("some.kernel") is None
        os.chown(tmp_path / "root", 12345, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 12345)
        assert store.load("some.kernel") is None
    assert open_store(tmp_path / "root", "a" * 24) is None


def test_no_store_is_given_where_none_can_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "a-file").write_text("no folder")
    monkeypatch.setenv("MODULAR_CACHE_DIR", str(tmp_path / "a-file"))
    assert own_store() is None
    monkeypatch.setenv("MODULAR_CACHE_DIR", str(tmp_path / "folder"))
    store = own_store()
    assert store is not None and store.folder.is_relative_to(tmp_path / "folder")


def test_what_nobody_used_for_a_month_goes_and_the_newest_and_the_strange_folders_stay(tmp_path: Path):
    now = time.time()

    def folder(name: str, days: float) -> Path:
        made = tmp_path / name
        made.mkdir()
        (made / f"code{SUFFIX}").write_bytes(b"code")
        os.utime(made, (now - days * 86400.0,) * 2)
        return made

    newest = [folder(f"{k:024x}", MAX_UNUSED_DAYS + k) for k in range(MIN_KEPT_FOLDERS)]
    old = [folder(f"{k:024x}", MAX_UNUSED_DAYS + k) for k in range(100, 103)]
    strange = [folder("pictures", 1000.0), folder("old", 1000.0)]
    stale = newest[0] / f"stale{SUFFIX}"
    stale.write_bytes(b"code")
    for path in (stale, newest[0]):
        os.utime(path, (now - (MAX_UNUSED_DAYS + 1) * 86400.0,) * 2)
    assert sorted(tidy(tmp_path)) == sorted([*old, stale])
    assert sorted(path for path in tmp_path.iterdir() if path.is_dir()) == sorted([*newest, *strange])
    assert (newest[0] / f"code{SUFFIX}").exists()
    young = [folder(f"{k:024x}", MAX_UNUSED_DAYS / 2) for k in range(200, 210)]
    assert tidy(tmp_path) == []  # once a day
    os.utime(tmp_path / "tidied", (0, 0))
    # others are newer now; what was used of late stays, however many there are
    assert set(tidy(tmp_path)) == set(newest)
    assert {path for path in tmp_path.iterdir() if path.is_dir()} == {*young, *strange}


def test_use_is_noted_to_the_day(tmp_path: Path):
    store = KernelStore(tmp_path)
    store.save("some.kernel", b"code")
    os.utime(tmp_path / "some.kernel", (0, 0))
    store.load("some.kernel")
    assert time.time() - (tmp_path / "some.kernel").stat().st_mtime < kernel_store.SECONDS_PER_DAY
