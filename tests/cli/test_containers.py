"""What lies in archives, mails and documents is read like any other file."""

from email.message import EmailMessage
from pathlib import Path

import pytest
from support.cli import invoke
from support.documents import docx, paragraph, zipped


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "store"


def ingest(root: Path, folder: Path) -> tuple[int, dict[str, int]]:
    answer = invoke("--root", root, "ingest", folder, "--no-embeddings", "--json")
    return answer.code, answer.json


def finds(root: Path, word: str) -> bool:
    return word in invoke("--root", root, "recall", word, "--no-semantic").out.partition("\n")[2]


def test_a_document_in_a_mail_in_an_archive_is_found_in_one_run(root: Path, tmp_path: Path) -> None:
    message = EmailMessage()
    message["From"], message["Subject"] = "ann@example.com", "walrus"
    message.set_content("Attached.")
    message.add_attachment(
        docx(paragraph("The penguin is late.")),
        maintype="application",
        subtype="octet-stream",
        filename="report.bin",
    )
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "backup.zip").write_bytes(zipped({"mail/one.eml": message.as_bytes()}))

    code, counts = ingest(root, folder)

    assert code == 0
    assert counts["observed"] == 3
    assert finds(root, "walrus")
    assert finds(root, "penguin")
    code, again = ingest(root, folder)
    assert (code, again["observed"], again["observations"]) == (0, 0, 0)


def test_archives_in_archives_are_opened_to_the_depth_limit(root: Path, tmp_path: Path) -> None:
    packed = {"level0.txt": b"walrus0"}
    for level in range(1, 7):
        packed = {f"level{level}.txt": f"walrus{level}".encode(), "in.zip": zipped(packed)}
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "outer.zip").write_bytes(zipped(packed))

    code, _ = ingest(root, folder)

    assert code == 0
    assert [finds(root, f"walrus{level}") for level in range(6, 1, -1)] == [True] * 4 + [False]
