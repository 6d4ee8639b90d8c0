# Runs the App from its TypeScript sources with Node.js type stripping, so there is no build step.
FROM node:24-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
COPY packages ./packages
COPY sandbox/package.json ./sandbox/
COPY simulate/package.json ./simulate/
RUN npm ci --omit=dev --ignore-scripts

FROM node:24-bookworm-slim
# Package versions are not pinned, so that every build includes Debian's latest fixes.
# hadolint ignore=DL3008
RUN apt-get update \
  && apt-get install --yes --no-install-recommends ca-certificates git tini \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY package.json app.yml ./
COPY packages ./packages
COPY src ./src
RUN install --directory --owner=node --group=node /data
# The `node` user of the base image. Kubernetes can verify that a numeric user is not root.
USER 1000
ENV NODE_ENV=production DATA_DIR=/data PORT=3000
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/readyz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# tini reaps child processes of Git that outlive it.
ENTRYPOINT ["tini", "--"]
CMD ["node", "--no-warnings", "src/cli.ts", "serve"]
