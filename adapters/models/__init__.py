"""Models behind the ports: local ones with packaged weights, and OpenAI-compatible services.

Importing this package settles what the model runtimes read from the environment at their own
import, so it comes before theirs: no telemetry, no model hub, and no busy waiting between calls.
"""

import os

_QUIET = {
    # onnxruntime otherwise writes a database to the home folder and reports to its maker.
    "ORT_DISABLE_TELEMETRY": "1",
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    # Spinning OpenMP threads cost twice the CPU where workers share the cores.
    "OMP_WAIT_POLICY": "passive",
}
for _name, _value in _QUIET.items():
    os.environ.setdefault(_name, _value)
