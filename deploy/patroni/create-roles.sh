#!/bin/sh
# Creates the roles of docs/operations.md with minimal rights. Patroni runs it once, on the first primary, with the
# connection of the superuser as argument. Passwords come from node.env.
set -eu
psql --dbname="$1" --no-psqlrc --set=ON_ERROR_STOP=1 \
  --set=owner_password="$OWNER_PASSWORD" --set=api_1_password="$API_1_PASSWORD" \
  --set=api_2_password="$API_2_PASSWORD" --set=reader_password="$READER_PASSWORD" \
  --set=signer_password="$SIGNER_PASSWORD" <<'SQL'
create role tollbook_service nologin;
create role tollbook_reader nologin;
create role tollbook_payout nologin;
create role tollbook_burner nologin;
create role tollbook_operator nologin;
create role tollbook_finance nologin;
create role tollbook_signer nologin;
-- May drop old quotes and nothing else. The service is a member of it.
create role tollbook_retention nologin;
create role tollbook_owner login createrole password :'owner_password';
create role tollbook_api_1 login password :'api_1_password' in role tollbook_service, tollbook_retention;
create role tollbook_api_2 login password :'api_2_password' in role tollbook_service, tollbook_retention;
-- The signer of network fees, which records signatures and reads nothing of the ledger.
create role tollbook_fee_payer login password :'signer_password' in role tollbook_signer;
create role tollbook_report login password :'reader_password' in role tollbook_reader;
-- Lets an instance see its standbys (REQUIRE_SYNCHRONOUS_STANDBY=1).
grant pg_read_all_stats to tollbook_service;
create database tollbook owner tollbook_owner;
revoke all on database tollbook from public;
grant connect on database tollbook to tollbook_service, tollbook_reader, tollbook_payout, tollbook_burner, tollbook_operator, tollbook_finance, tollbook_signer;
SQL
