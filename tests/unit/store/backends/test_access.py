import os
from pathlib import Path

import pytest

from muniment.store.backends.access import access
from muniment.store.errors import UsageError

NOWHERE = {"AWS_CONFIG_FILE": os.devnull, "AWS_SHARED_CREDENTIALS_FILE": os.devnull}


def test_variables_come_before_the_profile(tmp_path: Path) -> None:
    (tmp_path / "credentials").write_text(
        "[work]\naws_access_key_id = profile\naws_secret_access_key = hidden\n"
        "aws_session_token = token\n"
    )
    (tmp_path / "config").write_text(
        "[profile work]\nregion = eu-north-1\nendpoint_url = https://s3.example.org\n"
    )
    told = {
        "AWS_PROFILE": "work", "AWS_CONFIG_FILE": str(tmp_path / "config"),
        "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "credentials"),
    }  # fmt: skip

    found = access(told)
    assert (found.key, found.secret, found.token) == ("profile", "hidden", "token")
    assert (found.region, found.endpoint) == ("eu-north-1", "https://s3.example.org")

    own = {"AWS_ACCESS_KEY_ID": "own", "AWS_SECRET_ACCESS_KEY": "secret"}
    found = access({**told, **own, "AWS_ENDPOINT_URL": "http://localhost:9000"})
    assert (found.key, found.token, found.endpoint) == ("own", None, "http://localhost:9000")
    assert found.plain_http


def test_without_credentials_it_says_what_to_set() -> None:
    with pytest.raises(UsageError) as caught:
        access(NOWHERE)
    assert caught.value.code == "no_credentials"


def test_secrets_do_not_show(tmp_path: Path) -> None:
    found = access({**NOWHERE, "AWS_ACCESS_KEY_ID": "own", "AWS_SECRET_ACCESS_KEY": "secret"})

    assert "secret" not in repr(found).replace("secret=", "")
    assert "own" not in repr(found)
