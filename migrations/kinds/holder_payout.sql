-- A plan that divides a debt among the holders of the token; the key is the digest of the plan. It moves nothing: each part is
-- a payout that names the plan. Recorded by ledger.record_holder_payout alone, which keeps one plan of a mint open at a time.
insert into ledger.kinds (kind, space, id_bytes) values ('holder_payout', 5, 16)
on conflict (kind) do update set space = excluded.space, id_bytes = excluded.id_bytes;

insert into ledger.steps (step, kind, from_state, to_state, event_kinds, moves, writer) values
  ('holder_payout.plan', 'holder_payout', '', 'planned', '{HolderPayoutPlanned}', '{}', 'payout'),
  ('holder_payout.end', 'holder_payout', 'planned', 'ended', '{HolderPayoutEnded}', '{}', 'payout')
on conflict (step, from_state, event_kinds) do update set
  kind = excluded.kind, to_state = excluded.to_state, moves = excluded.moves, writer = excluded.writer;
