"""The page of the store itself: what it holds, how far it is, what failed."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from muniment.pipeline.serving.web.layout import facts, main
from muniment.pipeline.view.markup import Markup, tag
from muniment.pipeline.view.words import Words, add_labels, when
from muniment.store.status import status

if TYPE_CHECKING:
    from muniment.pipeline.workspace import Workspace

_KIB = 1024
# Where a word of the pages says what is done with them, not what they are.
_COUNTED = {"candidates": "candidate_statuses", "observations": "counted_observations"}
_FAILED = 20  # the last ones are told

add_labels(
    {
        "counts": ("Counts", "数量"),
        "families": ("Assets by kind", "各类素材"),
        "observation_kinds": ("Observations by kind", "各类识别"),
        "counted_observations": ("Observations", "识别结果"),
        "candidate_statuses": ("Candidates", "候选"),
        "record_statuses": ("Records", "记忆"),
        "stages": ("Stages", "各阶段"),
        "bytes": ("Space", "空间"),
        "last_run": ("Last run", "上次运行"),
        "schema": ("Schema", "结构版本"),
        "state": ("State", "状态"),
        "root": ("Root", "目录"),
        "scope": ("Scope", "范围"),
        "current": ("current", "正常"),
        "sightings": ("Sightings", "出现记录"),
        "runs": ("Runs", "运行次数"),
        "last_backup": ("Last backup", "上次备份"),
        "last_drill": ("Last restore drill", "上次恢复演练"),
        "never": ("never", "从未"),
        "well": ("well", "正常"),
        "not_well": ("not well", "有问题"),
        "behind": ("{count} rows behind", "落后 {count} 行"),
        "failed_calls": ("Failed model calls", "失败的模型调用"),
        "ledger": ("Ledger", "账本"),
        "index": ("Index", "索引"),
        "assets_inline": ("Assets in the ledger", "账本内素材"),
        "assets_file": ("Assets as files", "文件素材"),
        "pending": ("pending", "待定"),
        "rejected": ("rejected", "已拒绝"),
    }
)


def status_of(workspace: "Workspace", words: Words) -> Markup:
    """Return what the page of the store tells."""
    found = status(workspace.root, workspace.scope, workspace.indexes())
    run = found["last_run"]
    told = f"{run['command']} · {when(run['started_at'])}" if run else None
    head = facts(
        [
            (words("root"), found["root"]),
            (words("scope"), " / ".join(found["scope"].values())),
            (words("state"), words(found["state"])),
            (words("schema"), str(found["schema"])),
            (words("last_run"), told),
            (words("index"), _index(found["index"], words)),
            (words("last_backup"), _last(found["last_backup"], "complete", words)),
            (words("last_drill"), _last(found["last_drill"], "ok", words)),
        ]
    )
    counted = {_COUNTED.get(name, name): count for name, count in found["counts"].items()}
    grouped = ("families", "observation_kinds", "candidate_statuses", "record_statuses")
    tables = [
        _table(words("counts"), counted, words),
        *(_table(words(name), found[name], words) for name in grouped),
    ]
    sizes = {name: _size(count) for name, count in found["bytes"].items()}
    return main(
        words("status"), head, *tables, _stages(found["stages"], words),
        _failed(found["failed_calls"], words), _table(words("bytes"), sizes, words),
    )  # fmt: skip


def _index(found: Mapping[str, Any], words: Words) -> str:
    behind = words.fill("behind", count=found["behind"]) if found["behind"] else ""
    return " · ".join(filter(None, (words(found["state"]), behind)))


def _last(note: Mapping[str, Any] | None, outcome: str, words: Words) -> str:
    if note is None:
        return words("never")
    ended = words("well" if note[outcome] else "not_well")
    return f"{when(note['at'])} · {ended} · {note['repository']}"


def _failed(calls: list[dict[str, Any]], words: Words) -> Markup | None:
    told = {when(one["at"]): f"{one['code']}: {one['message']}" for one in calls[-_FAILED:]}
    return _table(f"{words('failed_calls')} ({len(calls)})", told, words)


def _table(title: str, values: Mapping[str, Any], words: Words) -> Markup | None:
    if not values:
        return None
    rows = [
        tag("tr", None, tag("th", {"scope": "row"}, words(name)), tag("td", None, str(value)))
        for name, value in values.items()
    ]
    return tag("section", None, tag("h2", None, title), tag("table", None, rows))


def _stages(stages: Mapping[str, Any], words: Words) -> Markup | None:
    told = {
        name: ", ".join(f"{count} {how}" for how, count in states.items())
        if isinstance(states, Mapping)
        else str(states)
        for name, states in stages.items()
    }
    return _table(words("stages"), told, words)


def _size(count: int) -> str:
    size, unit = float(count), "B"
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if size < _KIB or unit == "TiB":
            break
        size /= _KIB
    return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
