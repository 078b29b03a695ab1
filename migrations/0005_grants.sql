-- Why: the service reads and calls; it has no INSERT, UPDATE, DELETE or TRUNCATE on anything. Partitions get no grant
-- at all: they are reached through their parent only.
grant select on
  ledger.head, ledger.events, ledger.payments, ledger.entries, ledger.balances, ledger.burn_totals, ledger.price_lists, ledger.quotes
  to tollbook_service, tollbook_reader;
grant select on paywall.idempotent_answers to tollbook_service;

revoke execute on all functions in schema ledger, paywall from public;
grant execute on function ledger.append, ledger.record_quotes, ledger.add_partitions to tollbook_service;
grant execute on function paywall.forget_old_answers() to tollbook_service;
