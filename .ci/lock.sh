#!/usr/bin/env bash
# Write the hashed requirements anew from pyproject.toml. Options go to pip-compile: --upgrade, -P NAME.
# Only the public registry's files count: wheels that one machine keeps would put digests in the
# lock that nobody else can match. No index address is written down.
set -euo pipefail
cd "$(dirname "$0")/.."

export PIP_CONFIG_FILE=/dev/null CUSTOM_COMPILE_COMMAND='make lock'
unset PIP_FIND_LINKS PIP_EXTRA_INDEX_URL PIP_INDEX_URL

compile() {
    .venv/bin/python -m piptools compile --quiet --no-config --generate-hashes --strip-extras \
        --allow-unsafe --no-emit-options --no-emit-index-url --no-emit-trusted-host \
        --no-emit-find-links "$@" pyproject.toml
}

compile "$@" --only-build-deps --build-deps-for wheel --output-file requirements-build.txt
compile "$@" --constraint requirements-build.txt --output-file requirements.txt
compile --extra dev --constraint requirements-build.txt --constraint requirements.txt \
    --output-file requirements-dev.txt
compile --extra dev --extra services --constraint requirements-build.txt \
    --constraint requirements-dev.txt --output-file requirements-services.txt
