"""Which readers and models there are: with the models' catalog, the one place that names them.

Everything is named by ``module:object`` and imported when it is asked for, so that listing,
choosing and fingerprinting cost nothing. Of the store, this file uses its digests (``store.ids``)
besides the record types: fingerprints of producers must be the ledger's own.
"""

from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from muniment.adapters.models.catalog import MODELS
from muniment.adapters.models.settings import ROLES, ModelSettings
from muniment.adapters.models.specs import ModelSpec, identity, require, row, setup_of
from muniment.adapters.ports import ReaderSpec
from muniment.adapters.third_party import ThirdParty, find_third_party
from muniment.store.errors import MissingToolError, StateError, UsageError
from muniment.store.ids import digest

if TYPE_CHECKING:
    from muniment.adapters.ports import Audit, Reader
    from muniment.store.records import Producer

READERS: tuple[ReaderSpec, ...] = (
    ReaderSpec(
        name="text",
        version="1",
        families=frozenset({"text"}),
        lane="inline",
        kinds=("text",),
        target="muniment.adapters.formats.plain_text:TextReader",
    ),
    ReaderSpec(
        name="subtitles",
        version="1",
        families=frozenset({"subtitle"}),
        lane="inline",
        kinds=("subtitle",),
        target="muniment.adapters.formats.subtitles:SubtitleReader",
        library="pysubs2",
    ),
    ReaderSpec(
        name="chat",
        version="1",
        families=frozenset({"chat"}),
        lane="inline",
        kinds=("message",),
        target="muniment.adapters.formats.chats:ChatReader",
    ),
    ReaderSpec(
        name="picture",
        version="1",
        families=frozenset({"image"}),
        lane="ocr",
        kinds=("ocr", "visual", "metadata"),
        target="muniment.adapters.media.picture:PictureReader",
        roles=("ocr", "describe"),
        library="pillow",
    ),
    ReaderSpec(
        name="pdf",
        version="1",
        families=frozenset({"pdf"}),
        lane="ocr",
        kinds=("page_text", "ocr", "metadata"),
        target="muniment.adapters.media.pdf:PdfReader",
        roles=("ocr",),
        library="pypdfium2",
    ),
    ReaderSpec(
        name="media_metadata",
        version="1",
        families=frozenset({"audio", "video"}),
        lane="parse",
        kinds=("metadata", "chapter", "subtitle"),
        target="muniment.adapters.media.media_metadata:MetadataReader",
        library="ffmpeg",
    ),
    ReaderSpec(
        name="speech",
        version="1",
        families=frozenset({"audio", "video"}),
        lane="transcribe",
        kinds=("asr",),
        target="muniment.adapters.media.audio:SpeechReader",
        roles=("detect_speech", "transcribe"),
        library="ffmpeg",
    ),
    ReaderSpec(
        name="frames",
        version="1",
        families=frozenset({"video"}),
        lane="ocr",
        kinds=("ocr", "visual"),
        target="muniment.adapters.media.video:FramesReader",
        roles=("ocr", "describe"),
        library="ffmpeg",
    ),
    ReaderSpec(
        name="docx",
        version="1",
        families=frozenset({"office.docx"}),
        lane="parse",
        kinds=("page_text", "metadata"),
        target="muniment.adapters.formats.office.docx:DocxReader",
        formats="docx",
        library="defusedxml",
        limits="unpacked size, ratio, 96 MiB a part",
    ),
    ReaderSpec(
        name="pptx",
        version="1",
        families=frozenset({"office.pptx"}),
        lane="parse",
        kinds=("page_text", "metadata"),
        target="muniment.adapters.formats.office.pptx:PptxReader",
        formats="pptx",
        library="defusedxml",
        limits="slides, unpacked size, ratio",
    ),
    ReaderSpec(
        name="xlsx",
        version="1",
        families=frozenset({"office.xlsx"}),
        lane="parse",
        kinds=("page_text", "metadata"),
        target="muniment.adapters.formats.office.xlsx:XlsxReader",
        formats="xlsx, xlsm",
        library="defusedxml",
        limits="cells, unpacked size, ratio",
    ),
    ReaderSpec(
        name="opendocument",
        version="1",
        families=frozenset({"opendocument"}),
        lane="parse",
        kinds=("page_text", "metadata"),
        target="muniment.adapters.formats.office.opendocument:OpenDocumentReader",
        formats="odt, ods, odp",
        library="defusedxml",
        limits="cells, unpacked size, ratio",
    ),
    ReaderSpec(
        name="epub",
        version="1",
        families=frozenset({"epub"}),
        lane="parse",
        kinds=("page_text", "metadata"),
        target="muniment.adapters.formats.office.epub:EpubReader",
        formats="epub",
        library="defusedxml",
        limits="chapters, unpacked size, ratio",
    ),
    ReaderSpec(
        name="rtf",
        version="1",
        families=frozenset({"rtf"}),
        lane="parse",
        kinds=("text", "metadata"),
        target="muniment.adapters.formats.office.rtf:RtfReader",
        formats="rtf",
        limits="256 MiB",
    ),
    ReaderSpec(
        name="legacy_office",
        version="1",
        families=frozenset({"office.legacy"}),
        lane="parse",
        kinds=("page_text",),
        target="muniment.adapters.formats.office.legacy:LegacyReader",
        formats="xls; of doc and ppt the reason only",
        library="xlrd, olefile",
        limits="cells",
    ),
    ReaderSpec(
        name="mail",
        version="1",
        families=frozenset({"mail"}),
        lane="parse",
        kinds=("message",),
        target="muniment.adapters.formats.mail.reader:MailReader",
        formats="eml, mbox, msg",
        library="olefile (msg)",
        limits="256 MiB a message",
    ),
    ReaderSpec(
        name="calendar",
        version="1",
        families=frozenset({"calendar"}),
        lane="parse",
        kinds=("event",),
        target="muniment.adapters.formats.mail.calendar:CalendarReader",
        formats="ics",
        library="icalendar (zones)",
        limits="text bytes",
    ),
    ReaderSpec(
        name="contacts",
        version="1",
        families=frozenset({"contact"}),
        lane="parse",
        kinds=("contact",),
        target="muniment.adapters.formats.mail.contacts:ContactReader",
        formats="vcf",
        limits="text bytes",
    ),
    ReaderSpec(
        name="archive",
        version="1",
        families=frozenset({"archive"}),
        lane="parse",
        kinds=(),
        target="muniment.adapters.formats.archives:ArchiveReader",
        formats="zip, tar, tar.gz, tar.bz2, tar.xz, gz, bz2, xz",
        limits="depth, members, unpacked size, ratio",
    ),
)


# --- readers -----------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _third_party() -> ThirdParty:
    taken = {reader.name for reader in READERS} | {(m.role, m.adapter) for m in MODELS}
    return find_third_party(taken)


def readers() -> tuple[ReaderSpec, ...]:
    """Return every reader, built-in ones first."""
    others = (spec for spec in _third_party().specs if isinstance(spec, ReaderSpec))
    return (*READERS, *others)


def readers_for(family: str) -> tuple[ReaderSpec, ...]:
    """Return the readers that take assets of a family."""
    return tuple(spec for spec in readers() if family in spec.families)


def broken() -> tuple[tuple[str, str], ...]:
    """Return (name, reason) of each third-party entry point that was skipped."""
    return _third_party().broken


def load(spec: ReaderSpec) -> "Reader":
    """Import and make a reader; ``MissingToolError`` when its library is absent."""
    reader: Reader = _imported(spec.target, spec.name)()
    return reader


def fingerprint(spec: ReaderSpec, models: ModelSettings) -> str:
    """Return the digest of what decides a reader's findings: itself and the models it asks.

    A role without an adapter, or refused offline, counts as such: when that changes, the reader
    has something new to find.
    """
    return digest(spec.name, spec.version, [_role_fingerprint(role, models) for role in spec.roles])


def _role_fingerprint(role: str, models: ModelSettings) -> str:
    spec = model_spec(role, models)
    if spec is None or (spec.remote and models.offline):
        return f"{role}: none"
    return digest(identity(spec, models))


def _imported(target: str, name: str) -> Any:
    module, _, attribute = target.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise MissingToolError(
            f"the adapter {name} can't be loaded: {error}", hint="see: muniment doctor"
        ) from error


# --- models ------------------------------------------------------------------------------------


def model_specs() -> tuple[ModelSpec, ...]:
    """Return every model adapter, the default of each role first."""
    others = (spec for spec in _third_party().specs if isinstance(spec, ModelSpec))
    return (*MODELS, *others)


def model_spec(role: str, models: ModelSettings) -> ModelSpec | None:
    """Return the adapter chosen for a role, its local default, or null; ``UsageError`` if unknown.

    A remote adapter is never a default.
    """
    if role not in ROLES:
        raise UsageError(f"there is no model role {role!r}")
    named = models.role(role).adapter
    fitting = [spec for spec in model_specs() if spec.role == role]
    for spec in fitting:
        if spec.adapter == named or (not named and not spec.remote):
            return spec
    if named:
        known = ", ".join(spec.adapter for spec in fitting) or "none yet"
        raise UsageError(f"models.{role}.adapter can't be {named!r}", hint=f"known: {known}")
    return None


def model(role: str, models: ModelSettings, audit: "Audit | None" = None) -> Any:
    """Load the model of a role; its producer is what ``producer`` returns.

    Raises ``MissingToolError`` when a part is absent or no adapter is configured, ``StateError``
    (``offline``) when it is remote and must not be, ``DamageError`` when weights are not the
    published ones.
    """
    spec = _required(role, models)
    if spec.remote and models.offline:
        raise StateError(
            f"the {role} model is remote and --offline refuses it",
            code="offline",
            hint=f"run without --offline, or change [models.{role}]",
        )
    require(spec, models.role(role))
    made = _imported(spec.target, spec.adapter)
    return made(producer(role, models), setup_of(spec, models, audit))


def producer(role: str, models: ModelSettings) -> "Producer":
    """Return who would produce for a role, without loading the model."""
    from muniment.store.records import Producer

    return Producer(**identity(_required(role, models), models))


def fingerprint_of(producer: "Producer") -> str:
    """Return the fingerprint of a producer, the same wherever and whenever it is computed."""
    return digest(
        producer.adapter,
        producer.version,
        producer.role,
        producer.model,
        producer.params_hash,
    )


def _required(role: str, models: ModelSettings) -> ModelSpec:
    spec = model_spec(role, models)
    if spec is None:
        raise MissingToolError(
            f"no adapter is configured for {role}", hint=f"name one in [models.{role}]"
        )
    return spec


def describe_models(models: ModelSettings) -> list[dict[str, Any]]:
    """Return one row a role for ``doctor``: what serves it, where from, and whether it can."""
    return [row(role, model_spec(role, models), models) for role in ROLES]
