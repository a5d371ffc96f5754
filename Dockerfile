# Two stages: the first holds the build tools, the second what runs.
FROM python:3.11-slim-bookworm AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
RUN python -m venv /opt/muniment
WORKDIR /src
COPY requirements-build.txt requirements.txt ./
RUN /opt/muniment/bin/pip install --require-hashes -r requirements-build.txt \
 && /opt/muniment/bin/pip install --require-hashes --no-build-isolation --use-pep517 -r requirements.txt
COPY . .
# Extras by name, as in --build-arg EXTRAS=ray,s3; what both need keeps its locked version.
ARG EXTRAS=""
RUN /opt/muniment/bin/pip install --no-deps --no-build-isolation . \
 && if [ -n "$EXTRAS" ]; then /opt/muniment/bin/pip install --constraint requirements.txt ".[$EXTRAS]"; fi \
 && /opt/muniment/bin/pip check

FROM python:3.11-slim-bookworm
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends ffmpeg \
 && rm -rf /var/lib/apt/lists/*
COPY --from=build /opt/muniment /opt/muniment
RUN useradd --create-home --uid 1000 muniment \
 && install -d -m 0700 -o muniment -g muniment /data
USER muniment
ENV PATH=/opt/muniment/bin:$PATH \
    MUNIMENT_ROOT=/data \
    ORT_DISABLE_TELEMETRY=1 \
    OMP_WAIT_POLICY=passive
VOLUME /data
WORKDIR /media
# A container that only runs a command is done before this is asked; one that serves or watches is
# well while the store can be read.
HEALTHCHECK --interval=5m --timeout=60s --start-period=30s CMD ["muniment", "-q", "status"]
ENTRYPOINT ["muniment"]
CMD ["--help"]
