#!/bin/sh
# Creates the secrets for docker-compose.yml: `.env` with passwords, and deploy/service.env from the example.
# Run it once; existing files stay unchanged.
set -eu
cd "$(dirname "$0")/.."
umask 077

if [ ! -e .env ]; then
  # Prefix of the names of volumes and containers, independent of the name of this folder.
  echo COMPOSE_PROJECT_NAME=tollbook >.env.tmp
  for name in POSTGRES OWNER API_1 API_2 READER GRAFANA; do
    # Hexadecimal, because it is part of URLs.
    printf '%s_PASSWORD=%s\n' "$name" "$(od -An -N24 -tx1 /dev/urandom | tr -d ' \n')"
  done >>.env.tmp
  mv .env.tmp .env
  echo 'wrote .env'
fi
if [ ! -e deploy/service.env ]; then
  cp deploy/example.env deploy/service.env
  echo 'wrote deploy/service.env'
fi
