-- Decisions of people about the refund of one payment; the key is that of the payment. Approving moves nothing: the debt is
-- there. Granting owes what was earned, and can happen once. Recorded by ledger.record_refund alone.
insert into ledger.kinds (kind, space, id_bytes) values ('refund', 4, 64)
on conflict (kind) do update set space = excluded.space, id_bytes = excluded.id_bytes;

insert into ledger.classes (class, prefix, is_exact, floor, ceiling, hourly) values
  ('granted', 'Expenses:RefundsGranted', true, 0, null, false)
on conflict (class) do update set
  prefix = excluded.prefix, is_exact = excluded.is_exact, floor = excluded.floor, ceiling = excluded.ceiling, hourly = excluded.hourly;

insert into ledger.steps (step, kind, from_state, to_state, event_kinds, moves, writer) values
  ('refund.approve', 'refund', '', 'approved', '{RefundApproved}', '{}', 'finance'),
  ('refund.approve', 'refund', 'approved', 'approved', '{RefundApproved}', '{}', 'finance'),
  ('refund.approve', 'refund', 'granted', 'granted', '{RefundApproved}', '{}', 'finance'),
  ('refund.grant', 'refund', '', 'granted', '{RefundGranted}', '{granted>refund}', 'finance'),
  ('refund.grant', 'refund', 'approved', 'granted', '{RefundGranted}', '{granted>refund}', 'finance')
on conflict (step, from_state, event_kinds) do update set
  kind = excluded.kind, to_state = excluded.to_state, moves = excluded.moves, writer = excluded.writer;
