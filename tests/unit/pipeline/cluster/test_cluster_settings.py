from typing import Any

import pytest

from muniment.pipeline.cluster.settings import Needs, cluster_of, is_clustered
from muniment.pipeline.settings import Settings
from muniment.store.errors import UsageError


def settings(engine: str = "ray", **table: Any) -> Settings:
    return Settings({"engine": engine, "ray_address": "auto"}, {}, {"ray": table})


@pytest.mark.parametrize(
    ("needs", "resources", "slots"),
    [
        (Needs(), {"CPU": 4.0}, 4),
        (Needs(cpus=2), {"CPU": 5.0}, 2),
        (Needs(), {"memory": 1e9}, 0),
        (Needs(cpus=1, gpus=0.25), {"CPU": 16.0, "GPU": 1.0}, 4),
        (Needs(cpus=1, gpus=1), {"CPU": 16.0}, 0),
        (Needs(cpus=1, memory=3 * 1024**3), {"CPU": 8.0, "memory": 7 * 1024**3}, 2),
        (Needs(cpus=0), {"CPU": 2.0}, 1),
    ],
)
def test_a_node_bears_as_many_calls_as_its_scarcest_resource_allows(
    needs: Needs, resources: dict[str, float], slots: int
) -> None:
    assert needs.fit(resources) == slots


def test_each_stage_has_needs_of_its_own() -> None:
    found = cluster_of(settings(retries=1, transcribe={"gpus": 0.5, "memory": "3G"}))

    assert found.retries == 1
    assert found.needs_of("transcribe") == Needs(1.0, 0.5, 3 * 1024**3)
    assert found.needs_of("ocr") == Needs()


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"retry": 1}, "ray.retry is not a setting"),
        ({"ocr": 2}, "ray.ocr must be a table"),
        ({"ocr": {"gpu": 1}}, "ray.ocr.gpu is not a setting"),
        ({"retries": -1}, "ray.retries must be a number"),
        ({"embed": {"cpus": True}}, "ray.embed.cpus must be a number"),
        ({"embed": {"memory": "much"}}, "is no size"),
    ],
)
def test_what_is_wrong_is_named(table: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        cluster_of(settings(**table))


def test_an_engine_that_there_is_not_is_refused() -> None:
    assert is_clustered(settings("ray"))
    assert not is_clustered(settings("local"))
    with pytest.raises(UsageError, match="no engine 'spark'"):
        is_clustered(settings("spark"))
