-- Why: reports.add_events does in one pass what these four functions did in eight.
drop function if exists reports.add_entries(bigint, bigint);
drop function if exists reports.list_payments(bigint, bigint);
drop function if exists reports.list_prices(bigint, bigint);
drop function if exists reports.add_shares(jsonb, jsonb);
