"""Real services for the tests in this folder, each started at its first use and ended with the run.

`make test-services` installs what they need and asks for them (``MUNIMENT_TEST_SERVICES=1``); any
other run skips what carries ``pytest.mark.services`` and says so (``tests/conftest.py``). Each
service is one session-scoped fixture in ``tests/support/service_NAME.py``, imported below; it
calls ``support.services.library`` first, so that a machine without the client or the server skips
with the name of what is missing.
"""

from support.service_ray import ray_cluster

__all__ = ["ray_cluster"]
