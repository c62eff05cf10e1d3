# Recollect behind HTTP: MCP, the REST API and the dashboard. See docs/guides/containers.md.
# The base image is pinned by its version. Whoever needs the same bytes each time adds its digest:
# --build-arg PYTHON=3.13-slim-bookworm@sha256:…
ARG PYTHON=3.13-slim-bookworm

FROM python:${PYTHON} AS build
ENV UV_COMPILE_BYTECODE=1 \
    UV_LINK_MODE=copy \
    UV_NO_CACHE=1 \
    UV_PROJECT_ENVIRONMENT=/opt/recollect \
    UV_PYTHON_DOWNLOADS=never
RUN pip install --no-cache-dir --disable-pip-version-check uv==0.13.7
WORKDIR /source
COPY pyproject.toml uv.lock ./
COPY models models
COPY packages packages
# What the lock names, with its hashes; the default model is built from weights that are pinned by hash, too.
RUN uv sync --frozen --no-dev --no-editable \
    --package recollect-server --package recollect-postgres --package recollect-importers

FROM python:${PYTHON}
RUN groupadd --gid 10001 recollect \
    && useradd --uid 10001 --gid recollect --home-dir /data --no-create-home --shell /usr/sbin/nologin recollect \
    && install --directory --owner recollect --group recollect --mode 0700 /data
COPY --from=build /opt/recollect /opt/recollect
ENV PATH=/opt/recollect/bin:$PATH \
    HOME=/data \
    RECOLLECT_STORE=/data/memory.db
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 7438
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:7438/healthz', timeout=4)"]
ENTRYPOINT ["recollect"]
CMD ["serve", "--http", "--host", "0.0.0.0"]
