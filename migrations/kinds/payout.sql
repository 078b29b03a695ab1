-- A Solana transaction that pays debts. Recorded by ledger.record_payout alone, which another role than the service's calls.
insert into ledger.kinds (kind, space, id_bytes) values ('payout', 1, 64)
on conflict (kind) do update set space = excluded.space, id_bytes = excluded.id_bytes;

insert into ledger.steps (step, kind, from_state, to_state, event_kinds, moves, writer) values
  ('payout.record', 'payout', '', 'paid', '{DistributionPaid}',
    '{share>wallet,overpaid>wallet,refund>wallet,unmatched>wallet}', 'payout')
on conflict (step, from_state, event_kinds) do update set
  kind = excluded.kind, to_state = excluded.to_state, moves = excluded.moves, writer = excluded.writer;
