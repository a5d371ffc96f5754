#!/usr/bin/env bash
# Install what the browser tests need where it is missing (Chromium, axe-core) and run them. The
# screenshots are kept in build/screenshots, to be looked at. With --smoke, those tests that need no
# model: the whole drive and every page; where Chromium can't be installed, none, and that is said.
set -euo pipefail
cd "$(dirname "$0")/.."

tests=(tests/end_to_end/test_looking.py tests/end_to_end/test_looking_closely.py)
smoke=false
if [ "${1:-}" = --smoke ]; then
    smoke=true tests=(tests/end_to_end/test_looking_closely.py)
    shift
fi

install_chromium() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 || return 1
    export DEBIAN_FRONTEND=noninteractive
    apt-get -qq update &&
        timeout 600 apt-get -qq install -y --no-install-recommends chromium >/dev/null </dev/null
}

if ! command -v chromium chromium-browser google-chrome >/dev/null 2>&1 && ! install_chromium; then
    if $smoke; then
        printf 'browser: skipped, without screenshots: Chromium could not be installed\n' >&2
        exit 0
    fi
    printf 'browser: Chromium is missing; as root on Debian: apt-get install chromium\n' >&2
    exit 1
fi

export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 PIP_ROOT_USER_ACTION=ignore
export MUNIMENT_TEST_BROWSER=1
if [ -z "${MUNIMENT_TEST_SCREENSHOTS:-}" ]; then
    export MUNIMENT_TEST_SCREENSHOTS="$PWD/build/screenshots"
    rm -rf "$MUNIMENT_TEST_SCREENSHOTS"  # those of an earlier run show something else
fi
.venv/bin/python -m pip install --quiet --no-deps --require-hashes -r requirements-browser.txt </dev/null
exec .venv/bin/python -m pytest -n 0 "${tests[@]}" "$@"
