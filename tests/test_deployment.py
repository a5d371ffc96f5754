"""The deployment examples: they parse, and they say what the documentation promises of them."""

from pathlib import Path
from typing import Any

import pytest

yaml: Any = pytest.importorskip("yaml")

CHECKOUT = Path(__file__).resolve().parent.parent
DEPLOYMENT = CHECKOUT / "docs" / "deployment"
MANIFESTS = sorted((DEPLOYMENT / "k8s").glob("*.yaml"))


def documents(path: Path) -> list[dict[str, Any]]:
    return [one for one in yaml.safe_load_all(path.read_text("utf-8")) if one is not None]


def pods() -> dict[str, dict[str, Any]]:
    found = (one for path in MANIFESTS for one in documents(path))
    return {
        one["metadata"]["name"]: one["spec"]["template"]["spec"]
        for one in found
        if one["kind"] in {"Deployment", "StatefulSet"}
    }


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.name)
def test_every_manifest_names_what_it_is(path: Path) -> None:
    for one in documents(path):
        assert {"apiVersion", "kind", "metadata"} <= one.keys()
        assert one["metadata"]["name"].startswith("muniment")


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.name)
def test_selectors_find_the_pods_they_are_for(path: Path) -> None:
    for one in documents(path):
        if one["kind"] in {"Deployment", "StatefulSet"}:
            labels = one["spec"]["template"]["metadata"]["labels"]
            assert one["spec"]["selector"]["matchLabels"].items() <= labels.items()


def test_there_is_one_driver_and_it_has_the_volume() -> None:
    (driver,) = (
        one for path in MANIFESTS for one in documents(path) if one["kind"] == "StatefulSet"
    )

    assert driver["spec"]["replicas"] == 1
    assert [claim["metadata"]["name"] for claim in driver["spec"]["volumeClaimTemplates"]] == [
        "data"
    ]


def test_mounts_name_volumes_that_exist() -> None:
    for name, pod in pods().items():
        volumes = {volume["name"] for volume in pod["volumes"]} | {"data"}
        for container in pod["containers"]:
            mounted = {mount["name"] for mount in container["volumeMounts"]}
            assert mounted <= volumes, name


def test_ray_reports_nothing_home_anywhere() -> None:
    for pod in pods().values():
        for container in pod["containers"]:
            assert {"name": "RAY_USAGE_STATS_ENABLED", "value": "0"} in container["env"]
    composed = documents(DEPLOYMENT / "compose.yaml")[0]
    for name in ("driver", "node"):
        assert composed["services"][name]["environment"]["RAY_USAGE_STATS_ENABLED"] == "0"


def test_the_composition_publishes_nothing_and_uses_declared_volumes() -> None:
    (composed,) = documents(DEPLOYMENT / "compose.yaml")

    assert composed["networks"]["inside"]["internal"]
    for name, service in composed["services"].items():
        assert "ports" not in service, name
        for volume in service.get("volumes", []):
            source = volume.rsplit(":/", 1)[0]
            assert source in composed["volumes"] or source.startswith("${"), volume
