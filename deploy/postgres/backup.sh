#!/bin/sh
# A base backup with its write-ahead log, checked after it was written. Restore it with the steps of docs/deploy.md.
# Environment: PGHOST, PGUSER, PGPASSWORD or PGPASSWORD_FILE, BACKUPS (/backups), BACKUPS_KEPT (7).
set -eu
umask 077
folder="${BACKUPS:-/backups}"
if [ -n "${PGPASSWORD_FILE:-}" ]; then
  PGPASSWORD="$(cat "$PGPASSWORD_FILE")"
  export PGPASSWORD
fi

name="$(date -u +%Y%m%dT%H%M%SZ)"
unfinished="$folder/.$name"
trap 'rm -rf "$unfinished"' EXIT
# A name without a dot is a whole backup.
pg_basebackup --pgdata="$unfinished" --checkpoint=fast --wal-method=stream --manifest-checksums=SHA256 --no-password
pg_verifybackup --quiet "$unfinished"
mv "$unfinished" "$folder/$name"
echo "$folder/$name, $(du -sk "$folder/$name" | cut -f1) kB, verified"

ls -1 "$folder" | sort -r | tail -n "+$((${BACKUPS_KEPT:-7} + 1))" | while read -r old; do
  rm -rf "${folder:?}/$old"
  echo "removed $folder/$old"
done
