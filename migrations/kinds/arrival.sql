-- Tokens of a second mint in a transaction whose own stream is about another mint. The id is the signature and the mint, so each
-- arrival is on record once.
insert into ledger.kinds (kind, space, id_bytes) values ('arrival', 8, 96)
on conflict (kind) do update set space = excluded.space, id_bytes = excluded.id_bytes;

insert into ledger.steps (step, kind, from_state, to_state, event_kinds, moves) values
  ('arrival.record', 'arrival', '', 'unmatched', '{TransferReceived}', '{wallet>unmatched}'),
  ('arrival.record', 'arrival', '', 'unmatched', '{TokensDelivered}', '{wallet>to_deliver}')
on conflict (step, from_state, event_kinds) do update set
  kind = excluded.kind, to_state = excluded.to_state, moves = excluded.moves;
