#!/bin/sh
# Creates the secrets for docker-compose.yml in deploy/secrets, `.env`, and deploy/service.env from the example.
# Run it once, and after an upgrade; existing files stay unchanged.
set -eu
cd "$(dirname "$0")/.."

# The folder is closed to other users; the files are readable, because a container reads them as its own user.
mkdir -p deploy/secrets
chmod 700 deploy/secrets
write() {
  [ -e "deploy/secrets/$1" ] && return
  (umask 022 && printf %s "$2" >"deploy/secrets/$1")
  echo "wrote deploy/secrets/$1"
}
for login in postgres owner api-1 api-2 report payout finance-api finance backup signer grafana; do
  # Hexadecimal, because it is part of URLs.
  write "$login-password" "$(od -An -N24 -tx1 /dev/urandom | tr -d ' \n')"
done
database_url() {
  write "$1-database-url" "postgres://$2:$(cat "deploy/secrets/$1-password")@postgres:5432/tollbook"
}
database_url owner tollbook_owner
database_url api-1 tollbook_api_1
database_url api-2 tollbook_api_2
database_url payout tollbook_payer
database_url report tollbook_report
database_url finance-api tollbook_finance_api
database_url finance tollbook_finance_desk
database_url signer tollbook_fee_payer
for name in receipt-key tls-certificate anchor-keypair anchor-rpc-url receipt-jwks fee-payer; do
  write "$name" ''
done

# Certificates of the signer and of the instances, by an authority whose key is deleted, so that no other certificate can be issued. To renew them,
# delete the five files and run this again.
if [ ! -s deploy/secrets/signer-authority ] && command -v openssl >/dev/null; then
  made=$(mktemp -d)
  # A run without OpenSSL has left empty files.
  find deploy/secrets -name 'signer-*' -size 0 -delete
  key() { openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes "$@" 2>/dev/null; }
  key -x509 -days 1830 -subj '/CN=Tollbook signer authority' -keyout "$made/ca.key" -out "$made/ca.crt"
  echo 'subjectAltName=DNS:signer' >"$made/names"
  for side in signer signer-client; do
    key -subj "/CN=$side" -keyout "$made/$side.key" -out "$made/$side.csr"
    openssl x509 -req -in "$made/$side.csr" -CA "$made/ca.crt" -CAkey "$made/ca.key" -set_serial "0x$(openssl rand -hex 16)" \
      -days 1825 -extfile "$made/names" -out "$made/$side.crt" 2>/dev/null
    write "$side-certificate" "$(cat "$made/$side.crt")"
    write "$side-key" "$(cat "$made/$side.key")"
  done
  write signer-authority "$(cat "$made/ca.crt")"
  rm -r "$made"
fi
# Without OpenSSL: make them elsewhere (docs/x402.md).
for name in signer-authority signer-certificate signer-key signer-client-certificate signer-client-key; do
  write "$name" ''
done

if [ ! -e .env ]; then
  # Prefix of the names of volumes and containers, independent of the name of this folder.
  echo COMPOSE_PROJECT_NAME=tollbook >.env
  echo 'wrote .env'
fi
if [ ! -e deploy/service.env ]; then
  (umask 077 && cp deploy/example.env deploy/service.env)
  echo 'wrote deploy/service.env'
fi
