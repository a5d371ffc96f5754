"""Where an S3-compatible server is and what opens it, as the AWS tools are told it.

The environment comes first, then the profile in the shared files. Nothing of it is ever written
into a root, a ledger or a message.
"""

import configparser
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from muniment.store.errors import UsageError

_REGION = "us-east-1"


@dataclass(frozen=True, slots=True)
class Access:
    """One server: ``endpoint`` null is AWS itself. Secrets are left out of its text."""

    key: str = field(repr=False)
    secret: str = field(repr=False)
    token: str | None = field(default=None, repr=False)
    endpoint: str | None = None
    region: str = _REGION

    @property
    def plain_http(self) -> bool:
        """Tell whether the server is asked without encryption."""
        return (self.endpoint or "").startswith("http://")


def access(environment: Mapping[str, str] | None = None) -> Access:
    """Read the standard variables and files; raise ``UsageError`` when there are no credentials."""
    told = os.environ if environment is None else environment
    profile = _profile(told)
    key = told.get("AWS_ACCESS_KEY_ID") or profile.get("aws_access_key_id")
    secret = told.get("AWS_SECRET_ACCESS_KEY") or profile.get("aws_secret_access_key")
    if not key or not secret:
        raise UsageError(
            "there are no credentials for the object store", code="no_credentials",
            hint="set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE",
        )  # fmt: skip
    own = bool(told.get("AWS_ACCESS_KEY_ID"))
    return Access(
        key, secret,
        told.get("AWS_SESSION_TOKEN") if own else profile.get("aws_session_token"),
        told.get("AWS_ENDPOINT_URL_S3") or told.get("AWS_ENDPOINT_URL")
        or profile.get("endpoint_url"),
        told.get("AWS_REGION") or told.get("AWS_DEFAULT_REGION") or profile.get("region")
        or _REGION,
    )  # fmt: skip


def _profile(told: Mapping[str, str]) -> dict[str, str]:
    """Return what the shared files say of the profile; nothing when there are none."""
    name = told.get("AWS_PROFILE", "default")
    home = Path(told.get("HOME", "~")).expanduser() / ".aws"
    found: dict[str, str] = {}
    for variable, file, section in (
        ("AWS_CONFIG_FILE", "config", name if name == "default" else f"profile {name}"),
        ("AWS_SHARED_CREDENTIALS_FILE", "credentials", name),
    ):
        parser = configparser.ConfigParser(interpolation=None)
        try:
            parser.read(told.get(variable) or home / file, "utf-8")
        except (configparser.Error, UnicodeDecodeError) as error:
            raise UsageError(
                f"the {file} file of AWS can't be read", code="no_credentials"
            ) from error
        if parser.has_section(section):
            found |= dict(parser.items(section))
    return found
