import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from support.documents import derived, outcome, read, scratch, source_of, zipped

from muniment.adapters.extract import Cited, extract
from muniment.adapters.ports import Derived, Limits
from muniment.store.errors import InputError
from muniment.store.records import MemberLocator


def tarred(members: dict[str, bytes], mode: str = "w") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:  # type: ignore[call-overload]
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    return out.getvalue()


def locked_zip(*, other: bool) -> bytes:
    members = {"secret.txt": b"words"} | ({"open.txt": b"words"} if other else {})
    data = bytearray(zipped(members, packed=False))
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.find(mark) + offset] |= 1
    return bytes(data)


def code_of(data: bytes, limits: Limits | None = None, depth: int = 0) -> tuple[str, str]:
    with pytest.raises(InputError) as raised:
        read(data, limits=limits, depth=depth)
    return raised.value.status, raised.value.code


@pytest.mark.parametrize(
    "pack",
    [
        zipped,
        tarred,
        lambda members: tarred(members, "w:gz"),
        lambda members: tarred(members, "w:bz2"),
        lambda members: tarred(members, "w:xz"),
    ],
)
def test_members_become_assets_with_their_path(pack: Callable[[dict[str, bytes]], bytes]) -> None:
    large = bytes(range(256)) * 1024
    members = {"a/one.txt": b"one", "large.bin": large, "a/empty": b""}
    data = pack(members)

    found = read(data)

    given = derived(found)
    assert [(item.name, item.locator) for item in given] == [
        ("one.txt", MemberLocator(path="a/one.txt")),
        ("large.bin", MemberLocator(path="large.bin")),
        ("empty", MemberLocator(path="a/empty")),
    ]
    assert given[0].data == b"one"
    assert given[1].path is not None
    assert given[1].path.read_bytes() == large
    assert all(item.relation == "member" and item.observe for item in given)
    ending = outcome(found)
    assert ending
    assert (ending.status, ending.code) == ("ok", "members")
    target = scratch() / "member"
    for path, content in members.items():
        locator = MemberLocator(path=path).model_dump()
        extract(source_of(data), Cited(locator, ""), target, Limits())
        assert target.read_bytes() == content


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_a_packed_file_has_one_member(pack: Callable[[bytes], bytes]) -> None:
    (item,) = derived(read(pack(b"words"), "note.txt.gz"))

    assert (item.name, item.data) == ("note.txt", b"words")


def test_paths_are_names_and_nothing_is_written_where_they_point(tmp_path: Path) -> None:
    goal = tmp_path / "evil.txt"
    names = ["../../evil.txt", str(goal), "C:\\evil.txt", "ok.txt"]

    given = derived(read(zipped(dict.fromkeys(names, b"x" * 100_000))))

    assert not goal.exists()
    assert [item.name for item in given] == ["evil.txt", "evil.txt", "evil.txt", "ok.txt"]
    assert all(item.path is not None and item.path.parent == scratch() for item in given)


def test_junk_of_systems_is_left_out() -> None:
    junk = {"__MACOSX/._a.txt": b"x", "a/.DS_Store": b"x", "Thumbs.db": b"x", "a.txt": b"x"}

    assert [item.name for item in derived(read(zipped(junk)))] == ["a.txt"]


def test_names_of_old_programs_are_decoded() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("XXXX.txt", b"x")
    data = out.getvalue().replace(b"XXXX", "你好".encode("gb18030"))

    (item,) = derived(read(data))

    assert item.locator == MemberLocator(path="你好.txt")


def test_locked_members_are_said() -> None:
    found = read(locked_zip(other=True))

    assert [item.name for item in derived(found)] == ["open.txt"]
    ending = outcome(found)
    assert ending
    assert (ending.status, ending.code) == ("partial", "encrypted_members")
    assert code_of(locked_zip(other=False)) == ("encrypted", "password")


def test_a_member_with_a_wrong_checksum_takes_no_other_with_it() -> None:
    data = zipped({"bad.txt": b"good words", "fine.txt": b"fine"}, packed=False)

    found = read(data.replace(b"good words", b"evil words"))

    assert [item.name for item in derived(found)] == ["fine.txt"]
    ending = outcome(found)
    assert ending
    assert (ending.status, ending.code) == ("partial", "members_unread")


def test_a_tar_that_ends_early_gives_what_came_before() -> None:
    data = tarred({"a.txt": b"a" * 600, "b.bin": Random(0).randbytes(100_000)}, "w:gz")

    found = read(data[: len(data) // 2])

    assert [item.name for item in derived(found)][:1] == ["a.txt"]
    ending = outcome(found)
    assert ending
    assert ending.status == "partial"


@pytest.mark.parametrize("data", [b"PK\x03\x04" + b"x" * 400, b"\x1f\x8b\x08" + b"x" * 400])
def test_broken_archives_are_unreadable(data: bytes) -> None:
    assert code_of(data) == ("failed", "unreadable")


def test_archives_that_nobody_unpacks_are_unsupported() -> None:
    assert code_of(b"7z\xbc\xaf\x27\x1c" + b"\0" * 60) == ("unsupported", "archive_format")


def test_budgets_are_kept_before_and_while_unpacking() -> None:
    zeros = b"\0" * (70 * 1024 * 1024)
    bomb, stream = zipped({"zeros": zeros}), gzip.compress(zeros, 1)

    assert code_of(bomb) == ("failed", "ratio")
    assert code_of(stream) == ("failed", "ratio")
    assert code_of(stream, Limits(max_unpacked_bytes=1 << 20)) == ("failed", "unpacked_size")
    assert code_of(bomb, Limits(max_unpacked_bytes=1 << 20)) == ("failed", "unpacked_size")
    many = zipped({f"{n}.txt": b"" for n in range(20)})
    assert code_of(many, Limits(max_members=10)) == ("failed", "too_many_members")
    assert code_of(tarred({f"{n}": b"" for n in range(20)}), Limits(max_members=10)) == (
        "failed",
        "too_many_members",
    )


def test_a_lying_directory_gives_no_more_than_it_says() -> None:
    data = bytearray(zipped({"a.txt": b"words " * 5000}))
    at = data.find(b"PK\x01\x02") + 24
    data[at : at + 4] = (5).to_bytes(4, "little")

    assert sum(len(item.data or b"") for item in derived_or_nothing(bytes(data))) <= 5


def derived_or_nothing(data: bytes) -> list[Derived]:
    try:
        return derived(read(data))
    except InputError:
        return []


def test_archives_in_archives_end_at_the_depth_limit() -> None:
    data = zipped({"a.txt": b"x"})

    assert derived(read(data, depth=3))
    assert code_of(data, depth=4) == ("skipped", "depth_limit")


def test_an_empty_archive_is_empty() -> None:
    ending = outcome(read(zipped({})))

    assert ending
    assert (ending.status, ending.code) == ("empty", "no_members")


@pytest.mark.corpus
def test_a_zip_that_contains_itself_stops(corpus: Path) -> None:
    quines = [path for path in corpus.rglob("*droste*") if path.suffix == ".zip"]
    if not quines:
        pytest.skip("no such file in the corpus")

    names = [item.name for item in derived(read(quines[0].read_bytes()))]
    assert names == ["droste.jpg"]
