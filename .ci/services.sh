#!/usr/bin/env bash
# Install the clients and servers that the tests of real services need, and run those tests. The
# fixtures start the services themselves (tests/services), on free ports, and end them.
set -euo pipefail
cd "$(dirname "$0")/.."

export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 PIP_ROOT_USER_ACTION=ignore
# Ray reports its use home unless it is told not to before it starts.
export MUNIMENT_TEST_SERVICES=1 RAY_USAGE_STATS_ENABLED=0

# OpenStack Swift comes from Debian; elsewhere its tests are skipped and say so.
if ! command -v swift-proxy-server >/dev/null 2>&1 && [ "$(id -u)" = 0 ] &&
    command -v apt-get >/dev/null 2>&1; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get -qq update
    apt-get -qq install -y --no-install-recommends \
        swift-proxy swift-object swift-container swift-account >/dev/null </dev/null
fi
.venv/bin/python -m pip install --quiet --require-hashes --no-build-isolation --use-pep517 \
    -r requirements-services.txt </dev/null
exec .venv/bin/python -m pytest -n 0 -m services tests/services tests/contract "$@"
