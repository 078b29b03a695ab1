-- A Solana transaction that burns what is owed to be burned. Recorded by ledger.record_burn alone; its round is a key, so
-- one round is burned once, and a round begins only after the one before it has ended.
insert into ledger.kinds (kind, space, id_bytes) values ('burn', 1, 64)
on conflict (kind) do update set space = excluded.space, id_bytes = excluded.id_bytes;

insert into ledger.steps (step, kind, from_state, to_state, event_kinds, moves, writer) values
  ('burn.submit', 'burn', '', 'submitted', '{BurnSubmitted}', '{}', 'burner'),
  ('burn.confirm', 'burn', 'submitted', 'confirmed', '{BurnConfirmed}', '{burn_owed>wallet,burned>burned_by_callers}', 'burner'),
  -- The chain does not have the burn and never will. Its debts stay owed, and the next round burns them.
  ('burn.fail', 'burn', 'submitted', 'failed', '{BurnFailed}', '{}', 'burner')
on conflict (step, from_state, event_kinds) do update set
  kind = excluded.kind, to_state = excluded.to_state, moves = excluded.moves, writer = excluded.writer;
