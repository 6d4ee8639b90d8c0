# Build with `docker build .` or `buildah build .`. All build arguments are optional:
#   NODE_IMAGE              another base with Node.js 24, npm, and the user `node` (1000)
#   NPM_CONFIG_REGISTRY     an npm registry instead of the public one
#   DEBIAN_MIRROR           the scheme and host of a Debian mirror, such as https://mirror.example
#   TITLE, DESCRIPTION, SOURCE, VERSION, REVISION, LICENSES   the labels org.opencontainers.image.*
# If the registry or the mirror has a private certificate authority: --secret id=ca,src=ca.pem
ARG NODE_IMAGE=docker.io/library/node:24-bookworm-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d

# The App has no native code, so another platform's image needs no emulation for this stage.
FROM --platform=${BUILDPLATFORM} ${NODE_IMAGE} AS build
WORKDIR /build
ARG NPM_CONFIG_REGISTRY=
COPY package.json package-lock.json ./
COPY packages ./packages
COPY sandbox/package.json ./sandbox/
COPY simulate/package.json ./simulate/
RUN --mount=type=secret,id=ca \
  if [ -e /run/secrets/ca ]; then export NODE_EXTRA_CA_CERTS=/run/secrets/ca; fi \
  && npm ci --ignore-scripts --no-audit --no-fund
COPY . .
# The build contains all dependencies except for Postgres. The demo, which needs a checkout, stays behind. So do the files
# in node_modules that Node.js doesn't load: source maps, declarations, documents, and Postgres extensions.
RUN node scripts/build.ts /build/app/dist \
  && rm -r app/dist/demo app/dist/index.d.ts \
  && mkdir -p app/node_modules/@electric-sql \
  && mv node_modules/@electric-sql/pglite app/node_modules/@electric-sql/ \
  && find app/node_modules -type f \( -name '*.map' -o -name '*.ts' -o -name '*.cts' -o -name '*.md' -o -name '*.tar.gz' \) -delete \
  && find app/node_modules -type d -empty -delete \
  && mv bin package.json app.yml LICENSE app/ \
  && chmod -R u=rwX,go=rX app \
  && node -p 'tls.rootCertificates.join("\n")' >ca-certificates.crt

FROM ${NODE_IMAGE} AS runtime
ARG DEBIAN_MIRROR=
# Package versions are not pinned, so that every build includes Debian's latest fixes.
# hadolint ignore=DL3008
RUN --mount=type=secret,id=ca \
  if [ -n "$DEBIAN_MIRROR" ]; then \
    find /etc/apt \( -name '*.sources' -o -name '*.list' \) -exec sed -i -E "s|https?://[^/ ]+|$DEBIAN_MIRROR|" {} +; \
  fi \
  && apt-get -o Acquire::https::CAInfo=/run/secrets/ca update \
  && apt-get -o Acquire::https::CAInfo=/run/secrets/ca install --yes --no-install-recommends git tini \
  && rm -rf /var/lib/apt/lists/* /var/cache/apt /var/log/apt /var/log/dpkg.log \
  && ln -s /app/bin/catalog-bot.cjs /usr/local/bin/catalog-bot \
  && install --directory --owner=node --group=node /data
# Git trusts the certificate authorities that Node.js trusts.
COPY --from=build /build/ca-certificates.crt /etc/ssl/certs/
WORKDIR /app
# The `node` user of the base image. Kubernetes can verify that a numeric user is not root.
USER 1000
# The cache holds compiled code. The root file system may be read-only, so it is in /tmp.
ENV NODE_ENV=production DATA_DIR=/data PORT=3000 CATALOG_BOT_CACHE=/tmp/catalog-bot
VOLUME /data
EXPOSE 3000
# Only in Docker's image format, because the OCI format has no health check.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/readyz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# tini reaps child processes of Git that outlive it.
ENTRYPOINT ["tini", "--"]
CMD ["catalog-bot", "serve"]

FROM runtime
COPY --from=build /build/app /app
ARG TITLE=catalog-bot
ARG DESCRIPTION="A GitHub App that validates, merges, and publishes OLM file-based catalogs"
ARG SOURCE=
ARG VERSION=
ARG REVISION=
ARG LICENSES=Apache-2.0
LABEL org.opencontainers.image.title="$TITLE" \
  org.opencontainers.image.description="$DESCRIPTION" \
  org.opencontainers.image.source="$SOURCE" \
  org.opencontainers.image.version="$VERSION" \
  org.opencontainers.image.revision="$REVISION" \
  org.opencontainers.image.licenses="$LICENSES"
