"""A parent of its own for the pool's tests: run one reader, then show what is left of stdin."""

import sys
from pathlib import Path

from muniment.adapters.models.settings import ModelSettings
from muniment.adapters.ports import Draft, ReaderSpec, Source
from muniment.pipeline.executor import Pool
from muniment.pipeline.tasks import ReaderSetup, Task

scratch, name = Path(sys.argv[1]), sys.argv[2]
spec = ReaderSpec(name, "1", frozenset({"text"}), "parse", ("text",), f"worker_readers:{name}")
source = Source("sha256:00", 2, "text/plain", "text", "a.txt", scratch, data=b"hi")
with Pool(ReaderSetup(ModelSettings()), jobs=1) as pool:
    for result in pool.run([Task("one", spec, source)]):
        for finding in result.findings:
            assert isinstance(finding, Draft)
            sys.stdout.write(finding.text)
sys.stdout.write("|stdin left: " + sys.stdin.read())
