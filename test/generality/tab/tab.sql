-- A prepaid tab as data: a deposit that is debited request by request, and never overdrawn (ceiling 0).
insert into ledger.kinds (kind, space, id_bytes) values
  ('tab', 1, 64),
  ('tab_request', 2, 24)
on conflict (kind) do nothing;

insert into ledger.classes (class, prefix, is_exact, floor, ceiling, hourly) values
  ('prepaid', 'Liabilities:Prepaid:', false, null, 0, false)
on conflict (class) do nothing;

insert into ledger.steps (step, kind, from_state, to_state, event_kinds, lease, after_lease, moves) values
  ('tab.open', 'tab', '', 'open', '{TabOpened,TokensBurned}', 'none', false, '{wallet>prepaid,burned>burned_by_callers}'),
  ('tab.close', 'tab', 'open', 'closed', '{TabClosed}', 'none', false, '{prepaid>refund}'),
  ('tab.debit', 'tab_request', '', 'claimed', '{TabDebited}', 'take', false, '{prepaid>unearned}'),
  ('tab.fulfil', 'tab_request', 'claimed', 'fulfilled', '{RequestFulfilled,DistributionAllocated}', 'none', false, '{unearned>share}'),
  ('tab.credit', 'tab_request', 'claimed', 'released', '{TabCredited}', 'none', false, '{unearned>prepaid}')
on conflict (step, from_state, event_kinds) do nothing;
