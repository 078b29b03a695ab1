-- Why: least privilege. Every role reads tables and calls functions; none of them may write a table.
-- Group roles only: the operator gives each process a login role of its own (docs/operations.md). Roles belong to the
-- cluster, so another database of the same cluster may create them at this very moment.
do $$
declare
  wanted text;
begin
  foreach wanted in array array['tollbook_service', 'tollbook_reader', 'tollbook_payout', 'tollbook_burner',
    'tollbook_operator', 'tollbook_finance', 'tollbook_retention', 'tollbook_signer'] loop
    begin
      execute format('create role %I nologin', wanted);
    exception
      when duplicate_object or unique_violation then null;
    end;
  end loop;
end
$$;

-- Only its owner may call a function until a grant next to its text allows others. Not limited to a schema:
-- PostgreSQL ignores a revoke per schema of privileges that it grants by default.
alter default privileges revoke execute on functions from public;

-- Each process compares what was applied with its own files when it starts.
grant usage on schema migration to
  tollbook_service, tollbook_reader, tollbook_payout, tollbook_burner, tollbook_operator, tollbook_signer;
grant select on migration.applied to
  tollbook_service, tollbook_reader, tollbook_payout, tollbook_burner, tollbook_operator, tollbook_signer;

-- The number of the oldest program that may run on this schema: that of its last numbered migration. A migration that
-- removes what older programs use raises it in the same file.
create table migration.compatibility (
  one boolean not null default true,
  oldest_program integer not null,
  constraint compatibility_is_one_row primary key (one),
  constraint compatibility_is_the_one check (one),
  constraint compatibility_counts_from_one check (oldest_program > 0)
);
insert into migration.compatibility (oldest_program) values (9);
grant select on migration.compatibility to
  tollbook_service, tollbook_reader, tollbook_payout, tollbook_burner, tollbook_operator, tollbook_signer;

-- The append-only ledger.
create schema ledger;
revoke all on schema ledger from public;
grant usage on schema ledger to tollbook_service, tollbook_reader, tollbook_payout, tollbook_burner, tollbook_operator,
  tollbook_retention, tollbook_signer;

-- Notes of the service that are not part of the ledger: open work, leases, counts.
create schema work;
revoke all on schema work from public;
grant usage on schema work to tollbook_service, tollbook_reader, tollbook_payout, tollbook_burner;

create schema paywall;
revoke all on schema paywall from public;
grant usage on schema paywall to tollbook_service;

create schema news;
revoke all on schema news from public;
grant usage on schema news to tollbook_service;

create schema reports;
revoke all on schema reports from public;
grant usage on schema reports to tollbook_service, tollbook_reader;

create schema signer;
revoke all on schema signer from public;
grant usage on schema signer to tollbook_signer;
