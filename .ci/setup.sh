#!/usr/bin/env bash
# Make ready what every target needs: system programs, .venv with the locked packages, the project.
# Quick when nothing changed: a stamp in .venv holds a digest of everything that decides its content.
set -euo pipefail
cd "$(dirname "$0")/.."

VENV=.venv
STAMP="$VENV/.setup-digest"
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 PIP_ROOT_USER_ACTION=ignore

say() { printf 'setup: %s\n' "$*" >&2; }
stop() { say "$*"; exit 1; }

pick_python() {
    local name
    for name in "${PYTHON:-}" python3.11 python3; do
        if [ -n "$name" ] && command -v "$name" >/dev/null 2>&1 &&
            "$name" -c 'import sys; sys.exit(sys.version_info[:2] < (3, 11))' 2>/dev/null; then
            command -v "$name"
            return
        fi
    done
    stop "Python 3.11 or newer is missing; install it or name it: make PYTHON=/path/to/python3.11"
}

missing_packages() {
    command -v ffmpeg >/dev/null 2>&1 && command -v ffprobe >/dev/null 2>&1 || echo ffmpeg
    [ -e /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf ] || echo fonts-dejavu-core
    [ -e /usr/share/fonts/truetype/wqy/wqy-microhei.ttc ] || echo fonts-wqy-microhei
    command -v espeak-ng >/dev/null 2>&1 || echo espeak-ng
    # Debian keeps ensurepip in a package of its own; elsewhere it comes with Python.
    "$1" -c 'import ensurepip, venv' 2>/dev/null ||
        "$1" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])'
}

install_packages() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 ||
        stop "missing: $*; as root on Debian: apt-get install --no-install-recommends $*"
    say "installing $*"
    export DEBIAN_FRONTEND=noninteractive
    apt-get -qq update || { sleep 5; apt-get -qq update; }
    apt-get -qq install -y --no-install-recommends "$@" >/dev/null </dev/null
}

digest() {
    { "$1" -VV; cat requirements-build.txt requirements-dev.txt pyproject.toml .ci/setup.sh; pwd -P; } |
        sha256sum | cut -d' ' -f1
}

# One dropped connection should not cost the whole run.
pip_install() {
    "$VENV/bin/python" -m pip install --quiet "$@" </dev/null ||
        { say "trying once more"; sleep 5; "$VENV/bin/python" -m pip install --quiet "$@" </dev/null; }
}

fill_environment() {
    say "filling $VENV (a few minutes the first time)"
    "$1" -m venv "$VENV"
    pip_install --require-hashes -r requirements-build.txt
    # Source distributions are built with the setuptools just installed, not with one fetched unseen.
    pip_install --require-hashes --no-build-isolation --use-pep517 -r requirements-dev.txt
    pip_install --no-deps --no-build-isolation --editable .
    check_installed
}

# Of axe-playwright-python the browser tests use the script alone, without what the rest needs.
check_installed() {
    local broken
    broken=$("$VENV/bin/python" -m pip check | grep -v '^axe-playwright-python ' || true)
    [ -z "$broken" ] || [ "$broken" = 'No broken requirements found.' ] && return
    printf '%s\n' "$broken" >&2
    return 1
}

python=$(pick_python)
mapfile -t missing < <(missing_packages "$python")
[ "${#missing[@]}" = 0 ] || install_packages "${missing[@]}"

wanted=$(digest "$python")
if [ "$(cat "$STAMP" 2>/dev/null || true)" != "$wanted" ]; then
    fill_environment "$python"
    printf '%s\n' "$wanted" >"$STAMP"
    say "done"
fi
