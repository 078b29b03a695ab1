#!/bin/sh
# Creates the roles of docs/operations.md with minimal rights, once, when the data directory is new. The superuser is used
# only here.
set -eu
password() { cat "/run/secrets/$1-password"; }
psql --username="${POSTGRES_USER:-postgres}" --dbname=postgres --no-psqlrc --set=ON_ERROR_STOP=1 \
  --set=owner_password="$(password owner)" --set=api_1_password="$(password api-1)" \
  --set=api_2_password="$(password api-2)" --set=report_password="$(password report)" \
  --set=payout_password="$(password payout)" --set=backup_password="$(password backup)" \
  --set=finance_api_password="$(password finance-api)" --set=finance_password="$(password finance)" \
  --set=signer_password="$(password signer)" <<'SQL'
create role tollbook_service nologin;
create role tollbook_reader nologin;
create role tollbook_payout nologin;
create role tollbook_burner nologin;
create role tollbook_operator nologin;
create role tollbook_finance nologin;
create role tollbook_signer nologin;
-- May drop old quotes and nothing else. The service is a member of it.
create role tollbook_retention nologin;
-- A backup grants rights to every group above, so `pg_restore` needs all of them. The migrations create missing groups,
-- which is why their role may create roles.
create role tollbook_owner login createrole password :'owner_password';
create role tollbook_api_1 login password :'api_1_password' in role tollbook_service, tollbook_retention;
create role tollbook_api_2 login password :'api_2_password' in role tollbook_service, tollbook_retention;
create role tollbook_report login password :'report_password' in role tollbook_reader;
-- The instance with the finance reports, and its login for decisions about refunds.
create role tollbook_finance_api login password :'finance_api_password' in role tollbook_service, tollbook_retention;
create role tollbook_finance_desk login password :'finance_password' in role tollbook_finance, tollbook_reader;
-- The signer of network fees, which records signatures and reads nothing of the ledger.
create role tollbook_fee_payer login password :'signer_password' in role tollbook_signer;
create role tollbook_payer login password :'payout_password' in role tollbook_payout;
-- Copies the whole cluster and cannot change it.
create role tollbook_backup login replication password :'backup_password';
-- Lets an instance see its standbys (REQUIRE_SYNCHRONOUS_STANDBY=1).
grant pg_read_all_stats to tollbook_service;
create database tollbook owner tollbook_owner;
revoke all on database tollbook from public;
grant connect on database tollbook to tollbook_service, tollbook_reader, tollbook_payout, tollbook_burner, tollbook_operator, tollbook_finance, tollbook_signer;
revoke connect on database postgres from public;
SQL
# The image admits replication from its own container only.
echo 'host replication tollbook_backup all scram-sha-256' >>"$PGDATA/pg_hba.conf"
# The archive can only be written once its repository knows this cluster.
pgbackrest stanza-create
