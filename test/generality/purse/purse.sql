-- A stored purse as data: a deposit that is debited request by request, and never overdrawn (ceiling 0).
insert into ledger.kinds (kind, space, id_bytes) values
  ('purse', 1, 64),
  ('purse_request', 2, 24)
on conflict (kind) do nothing;

insert into ledger.classes (class, prefix, is_exact, floor, ceiling, hourly) values
  ('stored', 'Liabilities:Stored:', false, null, 0, false)
on conflict (class) do nothing;

insert into ledger.steps (step, kind, from_state, to_state, event_kinds, lease, after_lease, moves) values
  ('purse.open', 'purse', '', 'open', '{PurseOpened,TokensBurned}', 'none', false, '{wallet>stored,burned>burned_by_callers}'),
  ('purse.close', 'purse', 'open', 'closed', '{PurseClosed}', 'none', false, '{stored>refund}'),
  ('purse.debit', 'purse_request', '', 'claimed', '{PurseDebited}', 'take', false, '{stored>unearned}'),
  ('purse.fulfil', 'purse_request', 'claimed', 'fulfilled', '{RequestFulfilled,DistributionAllocated}', 'none', false, '{unearned>share}'),
  ('purse.credit', 'purse_request', 'claimed', 'released', '{PurseCredited}', 'none', false, '{unearned>stored}')
on conflict (step, from_state, event_kinds) do nothing;
