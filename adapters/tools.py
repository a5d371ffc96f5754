"""What readers work with besides the bytes: models by role, each loaded once a process."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from muniment.adapters import registry
from muniment.adapters.models.settings import ModelSettings
from muniment.adapters.ports import Limits

if TYPE_CHECKING:
    from muniment.adapters.ports import (
        Audit,
        Chat,
        Describer,
        Embedder,
        Labeller,
        LanguageIdentifier,
        Ocr,
        SpeechDetector,
        Transcriber,
    )


class LocalTools:
    """The models of this process; ``languages`` and ``threads`` overrule the settings' own."""

    def __init__(
        self,
        models: ModelSettings | None = None,
        limits: Limits | None = None,
        languages: Sequence[str] | None = None,
        threads: int | None = None,
        audit: "Audit | None" = None,
    ) -> None:
        models = models or ModelSettings()
        self.models = replace(
            models,
            languages=tuple(languages or models.languages),
            threads=threads or models.threads,
        )
        self.limits = limits or Limits()
        self.languages = self.models.languages
        self._audit = audit
        self._loaded: dict[str, Any] = {}

    def ocr(self) -> "Ocr":
        """Return the OCR engine."""
        ocr: Ocr = self._model("ocr")
        return ocr

    def speech_detector(self) -> "SpeechDetector":
        """Return the voice-activity gate."""
        detector: SpeechDetector = self._model("detect_speech")
        return detector

    def transcriber(self) -> "Transcriber":
        """Return the speech recogniser."""
        transcriber: Transcriber = self._model("transcribe")
        return transcriber

    def describer(self) -> "Describer | None":
        """Return the picture describer when one is configured and not refused offline."""
        spec = registry.model_spec("describe", self.models)
        if spec is None or (spec.remote and self.models.offline):
            return None
        describer: Describer = self._model("describe")
        return describer

    def labeller(self) -> "Labeller | None":
        """Return the classifier of photos when it is there and not switched off."""
        if registry.model_spec("label", self.models) is None:
            return None
        labeller: Labeller = self._model("label")
        return labeller

    def language_identifier(self) -> "LanguageIdentifier":
        """Return the text language identifier."""
        identifier: LanguageIdentifier = self._model("identify_language")
        return identifier

    def embedder(self) -> "Embedder":
        """Return the text embedder."""
        embedder: Embedder = self._model("embed")
        return embedder

    def chat(self) -> "Chat":
        """Return the language model; ``MissingToolError`` when none is configured."""
        chat: Chat = self._model("chat")
        return chat

    def _model(self, role: str) -> Any:
        if role not in self._loaded:
            self._loaded[role] = registry.model(role, self.models, self._audit)
        return self._loaded[role]
