-- Why: least privilege. Every role reads and calls functions; none of them may write a table.
-- Group roles only: the operator gives each process a login role of its own (docs/operations.md). Roles belong to the
-- cluster, so another database of the same cluster may create them at this very moment.
do $$
declare
  wanted text;
begin
  foreach wanted in array array['tollbook_service', 'tollbook_reader', 'tollbook_payout', 'tollbook_burner', 'tollbook_operator'] loop
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
grant usage on schema migration to tollbook_service, tollbook_reader, tollbook_payout, tollbook_burner, tollbook_operator;
grant select on migration.applied to tollbook_service, tollbook_reader, tollbook_payout, tollbook_burner, tollbook_operator;

create schema ledger;
revoke all on schema ledger from public;
grant usage on schema ledger to tollbook_service, tollbook_reader, tollbook_payout, tollbook_burner, tollbook_operator;

create schema work;
revoke all on schema work from public;
grant usage on schema work to tollbook_service;

create schema paywall;
revoke all on schema paywall from public;
grant usage on schema paywall to tollbook_service;
