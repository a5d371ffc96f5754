from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from muniment.pipeline.episode_drafts import EpisodeDraft, EpisodeInput, GroupKey
from muniment.pipeline.episodes import MEDIA_GAP, THREAD_GAP, group, group_key, group_rows
from muniment.store.times import utc_text

START = datetime(2026, 5, 6, tzinfo=UTC)
PLACES = (None, (52.52, 13.405), (52.53, 13.41), (52.39, 13.06))


@st.composite
def assets(draw: st.DrawFn) -> list[EpisodeInput]:
    """Rows of one asset: they share family, source, place and time."""
    number = draw(st.integers(0, 10**6))
    family = draw(st.sampled_from(["chat", "mail", "image", "video", "text"]))
    minutes = draw(st.one_of(st.none(), st.integers(0, 40).map(lambda step: step * 45)))
    talk = family in ("chat", "mail")
    row = EpisodeInput(
        observation="",
        asset=f"sha256:{number}",
        family=family,
        kind="message" if talk else "ocr",
        instant=None if minutes is None else utc_text(START + timedelta(minutes=minutes)),
        thread=draw(st.sampled_from(["one", "two"])) if talk else None,
        author=draw(st.sampled_from(["Ana", "Bo", None])),
        place=draw(st.sampled_from(PLACES)),
        source=draw(st.sampled_from(["phone", "camera"])),
        duration_ms=draw(st.sampled_from([5_000, 90_000])) if family == "video" else None,
        name=f"{number}",
        text=draw(st.sampled_from(["ok", "We fixed the leaking roof.", "我们周五去杭州看西湖。"])),
    )
    count = draw(st.integers(1, 3))
    return [row._replace(observation=f"obs_{number}_{n}", position=n) for n in range(count)]


collections = st.lists(assets(), max_size=25, unique_by=lambda rows: rows[0].asset)


def flat(groups: list[list[EpisodeInput]]) -> list[EpisodeInput]:
    return [row for rows in groups for row in rows]


@given(collections, st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_the_order_of_rows_changes_nothing(
    groups: list[list[EpisodeInput]], chance: object
) -> None:
    rows = flat(groups)
    shuffled = list(rows)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]  # a random.Random

    assert group(shuffled) == group(rows)


@given(collections)
@settings(max_examples=60, deadline=None)
def test_every_row_is_a_member_of_exactly_one_episode(groups: list[list[EpisodeInput]]) -> None:
    rows = flat(groups)
    members = [member for draft in group(rows) for member in draft.members]

    assert sorted(members) == sorted(row.observation for row in rows)


GAPS = {"conversation": THREAD_GAP, "moments": MEDIA_GAP}  # other kinds are never split


def touched_runs(instants: list[str], touched: list[str], gap: timedelta) -> list[tuple[str, str]]:
    """Return the first and last instant of each gap-free run that holds a touched one."""
    runs: list[list[str]] = []
    for instant in sorted(set(instants)):
        parsed = datetime.fromisoformat(instant)
        if not runs or parsed - datetime.fromisoformat(runs[-1][-1]) > gap:
            runs.append([])
        runs[-1].append(instant)
    return [(run[0], run[-1]) for run in runs if not set(touched).isdisjoint(run)]


class Kept:
    """What a stage does with the pure functions: rows and episodes kept, neighbourhoods redone."""

    def __init__(self) -> None:
        self.rows: list[EpisodeInput] = []
        self.drafts: dict[str, tuple[GroupKey, EpisodeDraft]] = {}

    def arrive(self, batch: list[EpisodeInput]) -> None:
        self.rows += batch
        for key in {group_key(row) for row in batch}:
            held = [row for row in self.rows if group_key(row) == key]
            self._regroup(key, held, [row for row in batch if group_key(row) == key])

    def _regroup(self, key: GroupKey, held: list[EpisodeInput], new: list[EpisodeInput]) -> None:
        gap = GAPS.get(key.kind)
        if gap is None:
            self._replace(key, held, None)
            return
        instants = [row.instant for row in held if row.instant is not None]
        touched = [row.instant for row in new if row.instant is not None]
        for span in touched_runs(instants, touched, gap):
            inside = [row for row in held if row.instant and span[0] <= row.instant <= span[1]]
            self._replace(key, inside, span)
        if any(row.instant is None for row in new):
            self._replace(key, [row for row in held if row.instant is None], ("", ""))

    def _replace(
        self, key: GroupKey, rows: list[EpisodeInput], span: tuple[str, str] | None
    ) -> None:
        for episode, (its_key, draft) in list(self.drafts.items()):
            inside = span is None or span[0] <= (draft.first or "") <= span[1]
            if its_key == key and inside:
                del self.drafts[episode]
        self.drafts |= {draft.id: (key, draft) for draft in group_rows(key, rows)}

    def all(self) -> list[EpisodeDraft]:
        return sorted((draft for _, draft in self.drafts.values()), key=lambda draft: draft.id)


@given(collections, st.randoms(use_true_random=False), st.integers(1, 6))
@settings(max_examples=80, deadline=None)
def test_any_arrival_in_any_batches_ends_in_the_same_episodes(
    groups: list[list[EpisodeInput]], chance: object, size: int
) -> None:
    arriving = list(groups)
    chance.shuffle(arriving)  # type: ignore[attr-defined]  # a random.Random
    kept = Kept()
    for begin in range(0, len(arriving), size):
        kept.arrive(flat(arriving[begin : begin + size]))

    assert kept.all() == group(flat(groups))
