from dataclasses import replace

import pytest
from support.stores import TinyStore

from muniment.store.assets import Stat, Taken
from muniment.store.errors import DamageError
from muniment.store.ids import asset_id

LOOK = Stat(size=3, mtime_ns=1, ctime_ns=1, inode=1)


def add(tiny: TinyStore, data: bytes, *, derived: bool = False) -> tuple[int, str]:
    """Add bytes with a type; return number and id."""
    assets = tiny.ledger.assets
    asset = asset_id(data)
    number, new = assets.add(Taken(asset, len(data), data, data), derived=derived)
    if new:
        assets.add_type(number, "text/plain", "text", "1")
    return number, asset


def see(
    tiny: TinyStore, asset: tuple[int, str], path: bytes = b"/a", stat: Stat | None = LOOK,
    **changes: object,
) -> bool:  # fmt: skip
    """See an asset at a path."""
    values = {"source": "folder", "origin": "external", "size": 3, "run": "run_test"} | changes
    with tiny.ledger.unit():
        return tiny.ledger.assets.see(asset, path, stat=stat, **values)  # type: ignore[arg-type]


def paths_of(tiny: TinyStore, asset: str) -> list[bytes]:
    return [row["path"] for row in tiny.ledger.assets.sightings(asset)]


def test_the_same_bytes_are_one_asset(tiny: TinyStore) -> None:
    assert add(tiny, b"one") == add(tiny, b"one")
    assert add(tiny, b"one") != add(tiny, b"two")
    assert [row.id for row in tiny.ledger.assets.rows()] == [asset_id(b"one"), asset_id(b"two")]


def test_the_latest_sniffing_counts(tiny: TinyStore) -> None:
    number, asset = add(tiny, b"one")
    first = tiny.ledger.assets.type_number(number)
    tiny.ledger.assets.add_type(number, "text/vcard", "contact", "2")

    row = tiny.ledger.assets.row(asset)
    assert row is not None
    assert (row.media_type, row.family) == ("text/vcard", "contact")
    assert tiny.ledger.assets.type_number(number) > first
    assert len(list(tiny.ledger.assets.rows())) == 1


def test_a_sighting_is_kept_when_something_of_it_changed(tiny: TinyStore) -> None:
    asset = add(tiny, b"one")

    assert see(tiny, asset)
    assert not see(tiny, asset)
    assert see(tiny, asset, b"/b")
    assert see(tiny, asset, stat=replace(LOOK, mtime_ns=2))
    assert see(tiny, asset, stat=replace(LOOK, mtime_ns=2), metadata={"title": "x"})
    assert see(tiny, asset, stat=replace(LOOK, mtime_ns=2), source="phone")
    assert not see(tiny, asset, stat=replace(LOOK, mtime_ns=2), source="phone")
    assert len(paths_of(tiny, asset[1])) == 5


def test_a_path_that_goes_back_and_forth_is_seen_each_time(tiny: TinyStore) -> None:
    one, two = add(tiny, b"one"), add(tiny, b"two")

    assert [see(tiny, asset) for asset in (one, two, one, one, two, two, one)] == [
        True, True, True, False, True, False, True
    ]  # fmt: skip
    assert len(paths_of(tiny, one[1])) == 3
    assert tiny.ledger.assets.unchanged(b"/a", LOOK, "folder", "external") == one[1]


def test_a_file_whose_inode_changed_is_no_news_but_known_at_a_glance_again(
    tiny: TinyStore,
) -> None:
    asset = add(tiny, b"one")
    see(tiny, asset)
    copied = replace(LOOK, ctime_ns=9, inode=9)
    assert tiny.ledger.assets.unchanged(b"/a", copied, "folder", "external") is None

    assert not see(tiny, asset, stat=copied)

    assert tiny.ledger.assets.unchanged(b"/a", copied, "folder", "external") == asset[1]
    assert not see(tiny, asset, stat=copied)
    assert len(paths_of(tiny, asset[1])) == 2


def test_text_handed_in_is_seen_once_whatever_came_between(tiny: TinyStore) -> None:
    one, two = add(tiny, b"one"), add(tiny, b"two")

    assert [see(tiny, asset, b"", None) for asset in (one, two, one, two)] == [
        True, True, False, False
    ]  # fmt: skip


def test_ids_of_sightings_do_not_depend_on_the_order_of_arrival(tiny: TinyStore) -> None:
    other = TinyStore(tiny.root.path.parent / "other")
    found = []
    for store, order in ((tiny, (b"zip", b"one")), (other, (b"x", b"one", b"zip"))):
        numbers = {data: add(store, data) for data in order}
        see(store, numbers[b"one"], b"zip/one", None, parent=numbers[b"zip"][0])
        found.append(store.ledger.assets.sightings(asset_id(b"one"))[0]["id"])
    other.close()

    assert found[0] == found[1]


@pytest.mark.parametrize(
    "change",
    [{"size": 4}, {"mtime_ns": 2}, {"ctime_ns": 2}, {"inode": 2}],
)
def test_any_sign_of_change_is_seen_at_a_glance(tiny: TinyStore, change: dict[str, int]) -> None:
    asset = add(tiny, b"one")
    see(tiny, asset)
    unchanged = tiny.ledger.assets.unchanged

    assert unchanged(b"/a", LOOK, "folder", "external") == asset[1]
    assert unchanged(b"/a", replace(LOOK, **change), "folder", "external") is None
    assert unchanged(b"/a", LOOK, "phone", "external") is None
    assert unchanged(b"/b", LOOK, "folder", "external") is None


def test_paths_are_bytes_and_folders_are_whole_names(tiny: TinyStore) -> None:
    one, two, three = (add(tiny, data) for data in (b"one", b"two", b"three"))
    see(tiny, one, b"/caf\xe9/a\xff\n")
    see(tiny, two, b"/caf\xe9/b/c")
    see(tiny, three, b"/caf\xe9s")

    assert tiny.ledger.assets.at_path(b"/caf\xe9") == [two[1], one[1]]
    assert tiny.ledger.assets.at_path(b"/caf\xe9/") == [two[1], one[1]]
    assert tiny.ledger.assets.at_path(b"/caf\xe9s") == [three[1]]
    row = tiny.ledger.assets.row(one[1])
    assert row is not None
    assert row.name == "a\ufffd\n"


def test_metadata_that_no_database_could_hold_is_kept_as_far_as_it_can_be(
    tiny: TinyStore,
) -> None:
    asset = add(tiny, b"one")
    see(tiny, asset, metadata={"name": "caf\udce9", "size": float("nan")}, source="caf\udce9")

    (sighting,) = tiny.ledger.assets.sightings(asset[1])
    assert sighting["metadata"] == '{"name":"caf\ufffd","size":null}'
    assert sighting["source"] == "caf\ufffd"


def test_what_was_derived_has_its_own_name_and_its_parents_source(tiny: TinyStore) -> None:
    mail, page, picture = add(tiny, b"mail"), add(tiny, b"page", derived=True), None
    picture = add(tiny, b"picture", derived=True)
    see(tiny, mail, b"/in/mail.eml", source="inbox", origin="third_party")
    assets = tiny.ledger.assets
    attempt = tiny.ledger.attempts.add(mail[0], "observe", "mail", "f", status="ok", run="r")
    for asset, name in ((page, ""), (picture, "photo.jpg")):
        assets.derive(
            asset[0], mail[0], attempt, relation="attachment", locator=None, name=name, observe=True
        )

    rows = {row.id: row for row in assets.rows()}
    assert rows[page[1]].name == "mail.eml"
    assert rows[picture[1]].name == "photo.jpg"
    assert {(row.source, row.origin) for row in rows.values()} == {("inbox", "third_party")}


def test_deriving_again_adds_nothing_unless_it_is_to_be_read_now(tiny: TinyStore) -> None:
    video, frame = add(tiny, b"video"), add(tiny, b"frame", derived=True)
    assets = tiny.ledger.assets
    for run, observe in enumerate((False, False, True, True, False)):
        attempt = tiny.ledger.attempts.add(
            video[0], "observe", "video", "f", status="ok", run=f"run_{run}"
        )
        assets.derive(
            frame[0], video[0], attempt, relation="key_frame", locator='{"at_ms":1}', name="",
            observe=observe,
        )  # fmt: skip

    assert len(assets.derivations(video[1])) == 2


def test_depth_counts_the_containers_up_to_one_that_was_seen_by_itself(tiny: TinyStore) -> None:
    outer, inner, file = (add(tiny, data, derived=True) for data in (b"outer", b"inner", b"file"))
    itself, again = add(tiny, b"itself", derived=True), add(tiny, b"again", derived=True)
    see(tiny, outer, b"/in/outer.zip")
    assets = tiny.ledger.assets
    attempt = tiny.ledger.attempts.add(outer[0], "observe", "zip", "f", status="ok", run="r")
    for asset, parent in ((inner, outer), (file, inner), (itself, again), (again, itself)):
        assets.derive(
            asset[0], parent[0], attempt, relation="member", locator=None, name="x", observe=True
        )

    assert [assets.depth(asset[0]) for asset in (outer, inner, file)] == [0, 1, 2]
    assert assets.depth(itself[0]) > 4, "a circle that nobody saw has no end"


def test_inline_bytes_are_checked_by_their_hash(tiny: TinyStore) -> None:
    number, asset = add(tiny, b"one")

    tiny.ledger.assets.check(number, asset, 3, "inline")
    with pytest.raises(DamageError, match="no longer matches"):
        tiny.ledger.assets.check(number, asset_id(b"two"), 3, "inline")
    with pytest.raises(DamageError, match="lost its bytes"):
        tiny.ledger.assets.inline_bytes(99)
