import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import os, sys
for name in ("ORT_DISABLE_TELEMETRY", "HF_HUB_OFFLINE", "OMP_WAIT_POLICY"):
    os.environ.pop(name, None)
import numpy as np
from PIL import Image
from muniment.adapters.models.settings import ModelSettings
from muniment.adapters.tools import LocalTools
tools = LocalTools(ModelSettings(languages=("en", "de")))
samples = np.random.default_rng(1).normal(0, 0.1, 16_000).astype("float32")
tools.ocr().read(Image.new("RGB", (64, 64), "white"))
tools.labeller().label(Image.effect_noise((300, 300), 90), [])
tools.speech_detector().detect(samples)
tools.transcriber().transcribe(samples, "en")
tools.embedder().query("hello")
tools.language_identifier().identify("hello there")
print("loaded", "torch" in sys.modules)
"""


def test_loading_and_using_every_model_writes_no_file_and_needs_no_network(tmp_path: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / "folder"
    home.mkdir()
    folder.mkdir()
    environment = {
        "HOME": str(home),
        "TMPDIR": str(folder),
        "PATH": os.environ["PATH"],
        "OMP_NUM_THREADS": "1",
        # Whoever tried the network would fail on this proxy.
        "HTTPS_PROXY": "http://127.0.0.1:9",
        "HTTP_PROXY": "http://127.0.0.1:9",
    }

    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (ended.returncode, ended.stdout.strip()) == (0, "loaded False"), ended.stderr
    assert ended.stderr == ""
    assert [*home.rglob("*"), *folder.rglob("*")] == []
