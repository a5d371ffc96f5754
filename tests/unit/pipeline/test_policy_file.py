from pathlib import Path

import pytest

from muniment.pipeline.policy import Allowance, Policy
from muniment.pipeline.policy_file import load_policy
from muniment.store.errors import UsageError
from muniment.store.layout import ScopePaths


def load(folder: Path, text: str) -> Policy:
    (folder / "policy.toml").write_text(text, encoding="utf-8")
    return load_policy(ScopePaths(folder))


def test_without_a_file_the_default_policy_holds(tmp_path: Path) -> None:
    assert load_policy(ScopePaths(tmp_path)) == Policy()


def test_an_empty_file_is_the_default_policy(tmp_path: Path) -> None:
    assert load(tmp_path, "") == Policy()


def test_rules_may_be_narrowed_and_proposers_let_through(tmp_path: Path) -> None:
    policy = load(
        tmp_path,
        'rules = ["home"]\n[[allow]]\nproposer = "model"\nkind = "preference"\norigin = "user"\n'
        "least_confidence = 1\n",
    )

    assert policy.rules == {"home"}
    assert policy.allowances == (Allowance("model", "preference", 1.0, "user"),)


def test_an_allowance_needs_its_proposer_alone(tmp_path: Path) -> None:
    assert load(tmp_path, '[[allow]]\nproposer = "*"\n').allowances == (Allowance("*"),)


@pytest.mark.parametrize(
    "text",
    [
        "rules = [",
        'rules = ["everything"]',
        'rules = "home"',
        "allow = 1",
        "surprise = 1",
        '[[allow]]\nkind = "fact"',
        '[[allow]]\nproposer = "model"\nkind = "facts"',
        '[[allow]]\nproposer = "model"\norigin = "nobody"',
        '[[allow]]\nproposer = "model"\nleast_confidence = 0',
        '[[allow]]\nproposer = "model"\nleast_confidence = true',
        "[[allow]]\nproposer = 1",
        '[[allow]]\nproposer = "model"\nconfidence = 0.5',
    ],
)
def test_what_is_not_understood_is_refused_and_never_guessed(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError) as caught:
        load(tmp_path, text)

    assert caught.value.code == "bad_policy"
    assert caught.value.path == str(tmp_path / "policy.toml")
    assert caught.value.hint
