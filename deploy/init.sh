#!/bin/sh
# Makes what docker-compose.yml needs and nobody may know: `.env` with passwords, and deploy/service.env from the example.
# Run it once; what is there already stays as it is.
set -eu
cd "$(dirname "$0")/.."
umask 077

if [ ! -e .env ]; then
  # In front of the names of volumes and containers, whatever this folder is called.
  echo COMPOSE_PROJECT_NAME=tollbook >.env.tmp
  for name in POSTGRES OWNER API_1 API_2 READER GRAFANA; do
    # Hexadecimal, because it stands in URLs.
    printf '%s_PASSWORD=%s\n' "$name" "$(od -An -N24 -tx1 /dev/urandom | tr -d ' \n')"
  done >>.env.tmp
  mv .env.tmp .env
  echo 'wrote .env'
fi
if [ ! -e deploy/service.env ]; then
  cp deploy/example.env deploy/service.env
  echo 'wrote deploy/service.env'
fi
