"""The pages say what the code does."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from muniment.store.errors import ExitCode

CHECKOUT = Path(__file__).resolve().parent.parent
REFERENCE = CHECKOUT / "docs" / "reference"


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, CHECKOUT / "docs" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    return script("generate")


@pytest.mark.parametrize("name", ["commands", "configuration", "formats"])
def test_a_generated_page_is_what_make_docs_writes(generate: ModuleType, name: str) -> None:
    page = (REFERENCE / f"{name}.md").read_text(encoding="utf-8")

    assert page == getattr(generate, name)(), "run `make docs`"


def test_the_manual_page_is_what_make_docs_writes() -> None:
    page = (REFERENCE / "muniment.1").read_text(encoding="utf-8")

    assert page == script("manual_page").manual_page(), "run `make docs`"


def test_every_reader_says_what_it_reads_where_and_within_what() -> None:
    from muniment.adapters.catalog import READERS

    silent = [
        reader.name
        for reader in READERS
        if not (reader.formats and reader.limits and (reader.locators or not reader.kinds))
    ]

    assert silent == []


def test_every_locked_package_is_on_the_licences_page(generate: ModuleType) -> None:
    page = (REFERENCE / "licences.md").read_text(encoding="utf-8")
    locked = generate.pins("requirements-dev.txt") | generate.pins("requirements.txt")

    assert [n for n, v in locked.items() if f"| {n} | {v} | " not in page] == []


def test_no_locked_package_is_under_a_strong_copyleft_licence(generate: ModuleType) -> None:
    licences = {
        name: generate.licence(name, generate.distribution(name))
        for name in generate.pins("requirements-dev.txt")
    }

    assert {n: words for n, words in licences.items() if re.search(r"\bA?GPL", words)} == {}
    assert {n: words for n, words in licences.items() if "see its" in words} == {}


def test_every_exit_code_is_in_the_reference() -> None:
    page = (REFERENCE / "exit-codes.md").read_text(encoding="utf-8")

    assert [code for code in ExitCode if f"\n| {code.value} | " not in page] == []


def test_links_between_pages_lead_somewhere() -> None:
    pages = [*CHECKOUT.glob("*.md"), *(CHECKOUT / "samples").glob("*.md")]
    pages += (CHECKOUT / "docs").rglob("*.md")
    broken = [
        f"{page.relative_to(CHECKOUT)}: {target}"
        for page in pages
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8"))
        if not (page.parent / target).exists()
    ]

    assert broken == []


def test_the_site_shows_every_page() -> None:
    nav = (CHECKOUT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    shown = re.findall(r"([\w/-]+\.md)$", nav, re.MULTILINE)
    pages = [str(page.relative_to(CHECKOUT / "docs")) for page in (CHECKOUT / "docs").rglob("*.md")]

    assert sorted(shown) == sorted(pages)
