-- Why: least privilege. The service may read and call functions; what it may not do cannot go wrong.
-- Group roles only: the operator gives a login role to each process (docs/operations.md). They belong to the
-- cluster, so another database of the same cluster may have made them already, perhaps at this very moment.
do $$
declare
  wanted text;
begin
  foreach wanted in array array['tollbook_service', 'tollbook_reader'] loop
    begin
      execute format('create role %I nologin', wanted);
    exception
      when duplicate_object or unique_violation then null;
    end;
  end loop;
end
$$;

create schema ledger;
revoke all on schema ledger from public;
grant usage on schema ledger to tollbook_service, tollbook_reader;

create schema paywall;
revoke all on schema paywall from public;
grant usage on schema paywall to tollbook_service;
