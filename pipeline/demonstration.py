"""The main job on the bundled samples: ingest, remember, recall, all in a store of its own."""

import os
import sys
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from muniment.pipeline import flow
from muniment.pipeline.output import printable, write
from muniment.pipeline.recalling import answer
from muniment.pipeline.remembering import Statement, keep
from muniment.pipeline.stages.register import Registration
from muniment.pipeline.stages.run import Run
from muniment.pipeline.stages.walk import Filters, walk
from muniment.pipeline.summary import summary
from muniment.store.errors import MunimentError

if TYPE_CHECKING:
    from muniment.pipeline.options import Session

SAMPLES = ("note.md", "chat-zh.txt", "whiteboard.png", "memo.ogg", "standup.mp4", "letter-scan.pdf")
OWNER = "林梅"  # whose chat it is
STATEMENT = "Remember that my passport number ends in 4471."
QUESTIONS = (
    "What is the confirmation code of the inn?",
    "高铁几点出发",
    "What is the captain's cabin number?",
)
# One question with a part for each sample.
EVERYTHING = (
    "Grandma's birthday dinner, 高铁 train, cake order number, dentist appointment, "
    "who is the painter, and the plumber's invoice number?"
)


def demonstrate(session: "Session", root: str) -> int:
    """Run the demo in a store at ``root``; return 0 when the last pack cites every sample."""
    session.add({"root": root, "me": (OWNER,)})
    with as_file(files("muniment") / "samples") as folder:
        tally, code = flow.perform(session, orders := _orders(folder))
    _say(session, f"$ muniment ingest samples --me {OWNER}\n{summary(tally, orders)}")
    kept = keep(session, Statement(STATEMENT), dry_run=False)
    _say(session, f'$ muniment remember "{STATEMENT}"\n{", ".join(kept["records"])}')
    packs = [_ask(session, question) for question in (*QUESTIONS, EVERYTHING)]
    cited = sorted({citation["name"] for citation in packs[-1]["citations"]} & {*SAMPLES})
    missing = sorted({*SAMPLES} - {*cited})
    if session.settings["json"]:
        document = {"ingest": tally.document(), "packs": packs, "cited": cited, "missing": missing}
        session.output.document(document)
    if missing:
        raise MunimentError(f"the last pack does not cite {', '.join(missing)}", code="demo")
    return int(code)


def _orders(folder: Path) -> flow.Orders:
    paths = [os.fsencode(folder / name) for name in SAMPLES]

    def register(run: Run, dry_run: bool) -> None:
        Registration(run, "samples", "external", dry_run).take(walk(paths, Filters()))

    return flow.Orders("demo", flow.STAGES, register)


def _ask(session: "Session", question: str) -> dict[str, Any]:
    pack, markdown = answer(session, question, {"semantic": True})
    _say(session, f'$ muniment recall --semantic "{question}"\n{markdown}')
    return pack


def _say(session: "Session", text: str) -> None:
    """Show a step as it is taken; under --json only the document is printed."""
    if not session.settings["json"]:
        write(sys.stdout, printable(text.rstrip("\n")) + "\n\n")
