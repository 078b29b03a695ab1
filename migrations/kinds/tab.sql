-- A tab: a deposit that pays for many requests. The deposit is a payment (payment.fulfil with TabOpened); the tab's own lifecycle
-- is a stream only once something happens to it, so an open tab has none and its debits guard on version 0.
insert into ledger.kinds (kind, space, id_bytes) values
  -- The first 16 bytes of the deposit's signature.
  ('tab_lifecycle', 6, 16),
  -- The same, and the number of the request: a stream per debit, so that the debits of one tab never wait for each other.
  ('tab_request', 7, 24)
on conflict (kind) do update set space = excluded.space, id_bytes = excluded.id_bytes;

insert into ledger.classes (class, prefix, is_exact, floor, ceiling, hourly) values
  -- Ceiling 0: no debit takes more than was deposited. Tallied by hour for the limit of a day.
  ('prepaid', 'Liabilities:Prepaid:', false, null, 0, true)
on conflict (class) do update set
  prefix = excluded.prefix, is_exact = excluded.is_exact, floor = excluded.floor, ceiling = excluded.ceiling, hourly = excluded.hourly;

insert into ledger.steps (step, kind, from_state, to_state, event_kinds, lease, after_lease, moves) values
  ('tab_lifecycle.replace_key', 'tab_lifecycle', '', 'open', '{TabKeyReplaced}', 'none', false, '{}'),
  ('tab_lifecycle.replace_key', 'tab_lifecycle', 'open', 'open', '{TabKeyReplaced}', 'none', false, '{}'),
  ('tab_lifecycle.close', 'tab_lifecycle', '', 'closed', '{TabClosed}', 'none', false, '{prepaid>refund}'),
  ('tab_lifecycle.close', 'tab_lifecycle', 'open', 'closed', '{TabClosed}', 'none', false, '{prepaid>refund}'),
  -- Amounts that arrive after the closing: a hold that was released, or a deposit that was too late.
  ('tab_lifecycle.return', 'tab_lifecycle', 'closed', 'closed', '{TabRestOwed}', 'none', false, '{prepaid>refund}'),
  -- A hold that returns after the chain dropped a deposit, which had been used to pay it.
  ('tab_lifecycle.take_back', 'tab_lifecycle', 'closed', 'closed', '{TabTakenBack}', 'none', false, '{prepaid>lost}'),

  ('tab_request.debit', 'tab_request', '', 'debited', '{TabDebited}', 'take', false, '{prepaid>unearned}'),
  ('tab_request.debit', 'tab_request', 'released', 'debited', '{TabDebited}', 'take', false, '{prepaid>unearned}'),
  ('tab_request.start', 'tab_request', 'debited', 'streaming', '{AnswerStarted}', 'take', false, '{}'),
  -- The burn is owed out of the charge; `burn=none` owes nothing. The unused part of the hold is on the tab again.
  ('tab_request.capture', 'tab_request', 'debited', 'captured', '{TabCaptured}', 'none', false,
    '{unearned>burn_owed,unearned>share,unearned>prepaid}'),
  ('tab_request.capture', 'tab_request', 'streaming', 'captured', '{TabCaptured}', 'none', false,
    '{unearned>burn_owed,unearned>share,unearned>prepaid}'),
  -- A price in dollars owes a burn in the token, out of what the treasury delivers.
  ('tab_request.capture', 'tab_request', 'debited', 'captured', '{TabCaptured,BurnOwed}', 'none', false,
    '{unearned>share,unearned>prepaid,to_deliver>burn_owed}'),
  ('tab_request.capture', 'tab_request', 'streaming', 'captured', '{TabCaptured,BurnOwed}', 'none', false,
    '{unearned>share,unearned>prepaid,to_deliver>burn_owed}'),
  ('tab_request.release', 'tab_request', 'debited', 'released', '{RequestFailed,TabReturned}', 'none', false, '{unearned>prepaid}'),
  ('tab_request.release', 'tab_request', 'streaming', 'released', '{AnswerBroken,TabReturned}', 'none', false, '{unearned>prepaid}'),
  ('tab_request.expire', 'tab_request', 'debited', 'released', '{RequestFailed,TabReturned}', 'none', true, '{unearned>prepaid}'),
  ('tab_request.expire', 'tab_request', 'streaming', 'released', '{RequestFailed,TabReturned}', 'none', true, '{unearned>prepaid}')
on conflict (step, from_state, event_kinds) do update set
  kind = excluded.kind, to_state = excluded.to_state, lease = excluded.lease, after_lease = excluded.after_lease, moves = excluded.moves;

insert into work.rules (kind, state, queue, due) values
  ('tab_request', 'debited', 'lease', 'lease'),
  ('tab_request', 'streaming', 'lease', 'lease')
on conflict (kind, state, queue) do update set due = excluded.due;
