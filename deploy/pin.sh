#!/bin/sh
# Writes docker-compose.digests.yml: the digest of each public image as this machine has it. Run it after `docker compose pull`,
# commit the file, and set COMPOSE_FILE=docker-compose.yml:docker-compose.digests.yml in `.env`. A tag can be moved; a digest cannot.
set -eu
cd "$(dirname "$0")/.."
target=docker-compose.digests.yml
unfinished="$(mktemp)"
trap 'rm -f "$unfinished"' EXIT
echo 'services:' >"$unfinished"
# Pairs of a service and its image, without the images that are built here.
awk '/^services:/ { inside = 1; next } /^[a-z]/ { inside = 0 }
  inside && /^  [a-z][a-z0-9-]*:/ { service = $1 }
  inside && /^    image: / && $2 !~ /:local$/ { print service, $2 }' docker-compose.yml |
  while read -r service image; do
    digest="$(docker image inspect --format '{{range .RepoDigests}}{{println .}}{{end}}' "$image" | head -n 1)"
    if [ -z "$digest" ]; then
      echo "$image has no digest here: pull it from your registry first" >&2
      exit 1
    fi
    printf '  %s\n    image: %s\n' "$service" "$digest" >>"$unfinished"
  done
cp "$unfinished" "$target"
echo "wrote $target"
