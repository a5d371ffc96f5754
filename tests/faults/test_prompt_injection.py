"""Text from outside is data (invariant 4): it shapes no pack, cites nothing, activates nothing."""

from collections.abc import Iterator

import pytest
from support.agents import Agent, event
from support.asking import Asker
from support.injections import CITATION, HIDDEN, NAMES, QUOTE, SECRET, check, text, word
from support.stores import Line, TinyStore

from muniment.pipeline.policy import Policy
from muniment.pipeline.proposers.found import FoundProposer
from muniment.pipeline.proposers.rules import RulesProposer
from muniment.pipeline.recall.render_markdown import render
from muniment.pipeline.stages.propose import Proposals, passage_of
from muniment.store.layout import Scope


def put(store: TinyStore, channel: str, number: int) -> None:
    """Store an input the way that it comes in through a channel."""
    said = text(number)
    name, plain = f"file-{number}", f"The keyword is {word(number)} here."
    if channel == "chat":
        line = Line(said, kind="message", author=said[:80], thread=f"t{number}",
                    origin="third_party")  # fmt: skip
        store.file(f"{name}.txt", [line], family="chat", origin="external")
    elif channel == "file name":
        store.file(f"/notes/{said}", [Line(plain, origin="external")], origin="external")
    elif channel == "metadata":
        line = Line(said, kind="metadata", origin="media", author=said[:80])
        store.file(f"{name}.jpg", [line], media_type="image/jpeg", family="image", origin="media")
    else:
        family = {"ocr": "image", "subtitle": "video", "asr": "audio", "page_text": "document"}
        line = Line(said, kind=channel, origin="media")
        store.file(f"{name}.bin", [line], family=family[channel], origin="media")


CHANNELS = ("chat", "ocr", "subtitle", "asr", "page_text", "metadata", "file name")


@pytest.fixture(scope="module", params=CHANNELS)
def asker(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Asker]:
    """Return a store that all inputs came into through one channel, read by every proposer."""
    root = tmp_path_factory.mktemp("injected")
    store, other = TinyStore(root / "r"), TinyStore(root / "r", Scope(namespace="vault"))
    for number in range(len(NAMES)):
        put(store, request.param, number)
        other.note(f"The secret of others about {word(number)} is {SECRET}.")
    passages = {row.id: passage_of(row) for row in store.ledger.evidence.after(0, 1_000)}
    with store.ledger.unit():
        for proposer in (RulesProposer(), FoundProposer()):
            Proposals(store.ledger, Policy()).take(proposer.propose(passages.values()), passages)
    yield Asker(store)
    store.close()
    other.close()


@pytest.mark.parametrize("number", range(len(NAMES)), ids=NAMES)
def test_it_changes_no_structure_and_forges_no_citation(asker: Asker, number: int) -> None:
    pack = asker.recall(word(number))

    assert pack["coverage"] != "none", "the input must be in the pack to prove anything"
    check(pack, render(pack))
    for citation in pack["citations"]:
        row = asker.store.ledger.evidence.get(citation["ref"].removeprefix("observation:"))
        assert row is not None
        assert citation["quote"] in row.text
    assert SECRET not in str(pack["sections"]) + str(pack["citations"])


def test_it_activates_no_memory(asker: Asker) -> None:
    assert list(asker.store.ledger.memory.records()) == []
    waiting = {found["status"] for found in asker.store.ledger.memory.candidates()}
    assert waiting <= {"pending", "rejected"}


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Agent:
    """Return a root whose sessions hold every input as a reply and as a tool's answer."""
    made = Agent(tmp_path_factory.mktemp("session") / "root")
    for number in range(len(NAMES)):
        session = f"s{number}"
        made.append(
            event(f"u{number}", "Look at this, please.", session=session),
            event(f"a{number}", text(number), session=session, role="assistant",
                  author=text(number)[:80]),
            event(f"t{number}", text(number), session=session, role="tool", source=word(number)),
            event(f"s{number}", text(number), session=session, role="system"),
        )  # fmt: skip
    return made


@pytest.mark.parametrize("number", range(len(NAMES)), ids=NAMES)
def test_a_reply_or_a_tool_shapes_no_resumed_context(agent: Agent, number: int) -> None:
    plain = agent.answer("session", "resume", f"s{number}")
    found = plain.json
    from muniment.pipeline.agent.context import render as render_context

    markdown = render_context(found)

    assert HIDDEN.search(markdown) is None
    lines = markdown.split("\n")
    headings = [line.removeprefix("## ") for line in lines if line.startswith("## ")]
    assert headings == [*(one["name"] for one in found["components"]), "citations"]
    cited = [match[1] for line in lines if (match := CITATION.match(line))]
    assert cited == [str(n) for n in range(1, len(found["citations"]) + 1)]
    assert sum(line.startswith("# ") for line in lines) == 1
    starts = ("# ", "## ", "- ", QUOTE, "[c", "Left out: ", "Lines that begin with > ")
    persona = "You are a helpful assistant."
    assert [
        line for line in lines if line and not line.startswith(starts) and persona not in line
    ] == []


def test_replies_and_tools_activate_no_memory(agent: Agent) -> None:
    assert agent.run("list", "records")["items"] == []
