#!/usr/bin/env bash
# Install what the browser tests need where it is missing (Chromium, axe-core) and run them. The
# screenshots are kept in build/screenshots, to be looked at.
set -euo pipefail
cd "$(dirname "$0")/.."

export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 PIP_ROOT_USER_ACTION=ignore
export MUNIMENT_TEST_BROWSER=1 MUNIMENT_TEST_SCREENSHOTS="${MUNIMENT_TEST_SCREENSHOTS:-$PWD/build/screenshots}"

if ! command -v chromium chromium-browser google-chrome >/dev/null 2>&1; then
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 ||
        { printf 'browser: Chromium is missing; as root on Debian: apt-get install chromium\n' >&2; exit 1; }
    export DEBIAN_FRONTEND=noninteractive
    apt-get -qq update
    apt-get -qq install -y --no-install-recommends chromium >/dev/null </dev/null
fi
.venv/bin/python -m pip install --quiet --no-deps --require-hashes -r requirements-browser.txt </dev/null
exec .venv/bin/python -m pytest -n 0 tests/end_to_end/test_looking.py tests/end_to_end/test_looking_closely.py "$@"
