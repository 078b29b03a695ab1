-- One payment: a Solana transaction that arrived, and what became of it. Written by hand; a test walks the deciders of
-- src/payment and asserts that the steps they reach are exactly these rows.
--
-- A verified state ends in `.final` once the chain can no longer drop the payment. exhausted, refund_due, reversed and
-- unmatched exist once: an exhausted payment is owed back with its finality, refund_due is final by itself, the others have
-- nothing to wait for.
insert into ledger.kinds (kind, space, id_bytes) values ('payment', 1, 64)
on conflict (kind) do update set space = excluded.space, id_bytes = excluded.id_bytes;

insert into ledger.classes (class, prefix, is_exact, floor, ceiling, hourly) values
  ('wallet', 'Assets:PaymentWallet', true, null, null, false),
  ('unearned', 'Liabilities:Unearned', true, null, 0, false),
  ('share', 'Liabilities:Share:', false, null, 0, false),
  ('overpaid', 'Liabilities:Overpaid:', false, null, 0, false),
  ('refund', 'Liabilities:RefundsDue:', false, null, 0, false),
  ('unmatched', 'Liabilities:Unmatched:', false, null, 0, false),
  ('burn_owed', 'Liabilities:BurnOwed', true, null, 0, false),
  -- Below zero: the treasury has delivered ahead. A reversal may not be refused, so it has no limit.
  ('to_deliver', 'Assets:TokensToDeliver', true, null, null, false),
  ('burned', 'Expenses:Burned:', false, null, null, false),
  -- Tallied here and not per endpoint: one row an hour and mint.
  ('burned_by_callers', 'Income:BurnedByCallers', true, null, null, true),
  ('lost', 'Expenses:ReversedPayments', true, null, null, false),
  -- Value that the chain could still drop, per mint. Not part of finance's trial balance.
  ('exposed', 'Memo:Exposed', true, 0, null, false),
  ('exposed_contra', 'Memo:ExposedContra', true, null, 0, false)
on conflict (class) do update set
  prefix = excluded.prefix, is_exact = excluded.is_exact, floor = excluded.floor, ceiling = excluded.ceiling, hourly = excluded.hourly;

insert into ledger.steps (step, kind, from_state, to_state, event_kinds, lease, after_lease, moves) values
  ('payment.submit', 'payment', '', 'submitted', '{PaymentSubmitted}', 'none', false, '{}'),

  -- The burn is inside the payment's transaction; or it is ours to make, and owed with the delivery.
  ('payment.claim', 'payment', '', 'claimed', '{PaymentVerified,TokensBurned,ProofClaimed}', 'take', false,
    '{wallet>unearned,wallet>overpaid,burned>burned_by_callers,exposed>exposed_contra}'),
  ('payment.claim', 'payment', '', 'claimed', '{PaymentVerified,ProofClaimed}', 'take', false,
    '{wallet>unearned,wallet>overpaid,exposed>exposed_contra}'),
  ('payment.claim', 'payment', 'submitted', 'claimed', '{PaymentVerified,TokensBurned,ProofClaimed}', 'take', false,
    '{wallet>unearned,wallet>overpaid,burned>burned_by_callers,exposed>exposed_contra}'),
  ('payment.claim', 'payment', 'submitted', 'claimed', '{PaymentVerified,ProofClaimed}', 'take', false,
    '{wallet>unearned,wallet>overpaid,exposed>exposed_contra}'),
  ('payment.claim', 'payment', 'released', 'claimed', '{ProofClaimed}', 'take', false, '{exposed>exposed_contra}'),
  ('payment.claim', 'payment', 'released.final', 'claimed.final', '{ProofClaimed}', 'take', false, '{}'),
  -- Takes over from an attempt whose lease has ended.
  ('payment.claim', 'payment', 'claimed', 'claimed', '{RequestFailed,ProofClaimed}', 'take', true,
    '{exposed_contra>exposed,exposed>exposed_contra}'),
  ('payment.claim', 'payment', 'claimed.final', 'claimed.final', '{RequestFailed,ProofClaimed}', 'take', true, '{}'),
  ('payment.claim', 'payment', 'streaming', 'claimed', '{RequestFailed,ProofClaimed}', 'take', true,
    '{exposed_contra>exposed,exposed>exposed_contra}'),
  ('payment.claim', 'payment', 'streaming.final', 'claimed.final', '{RequestFailed,ProofClaimed}', 'take', true, '{}'),

  -- The first byte of a streamed answer is about to be sent; the lease is renewed.
  ('payment.start', 'payment', 'claimed', 'streaming', '{AnswerStarted}', 'take', false, '{}'),
  ('payment.start', 'payment', 'claimed.final', 'streaming.final', '{AnswerStarted}', 'take', false, '{}'),

  ('payment.fulfil', 'payment', 'claimed', 'fulfilled', '{RequestFulfilled,DistributionAllocated}', 'none', false, '{unearned>share}'),
  ('payment.fulfil', 'payment', 'claimed.final', 'fulfilled.final', '{RequestFulfilled,DistributionAllocated}', 'none', false, '{unearned>share}'),
  ('payment.fulfil', 'payment', 'streaming', 'fulfilled', '{RequestFulfilled,DistributionAllocated}', 'none', false, '{unearned>share}'),
  ('payment.fulfil', 'payment', 'streaming.final', 'fulfilled.final', '{RequestFulfilled,DistributionAllocated}', 'none', false, '{unearned>share}'),
  -- The same with a burn that is ours to make, out of the price or, for a price in dollars, out of what the treasury delivers.
  ('payment.fulfil', 'payment', 'claimed', 'fulfilled', '{RequestFulfilled,BurnOwed,DistributionAllocated}', 'none', false,
    '{unearned>burn_owed,to_deliver>burn_owed,unearned>share}'),
  ('payment.fulfil', 'payment', 'claimed.final', 'fulfilled.final', '{RequestFulfilled,BurnOwed,DistributionAllocated}', 'none', false,
    '{unearned>burn_owed,to_deliver>burn_owed,unearned>share}'),
  ('payment.fulfil', 'payment', 'streaming', 'fulfilled', '{RequestFulfilled,BurnOwed,DistributionAllocated}', 'none', false,
    '{unearned>burn_owed,to_deliver>burn_owed,unearned>share}'),
  ('payment.fulfil', 'payment', 'streaming.final', 'fulfilled.final', '{RequestFulfilled,BurnOwed,DistributionAllocated}', 'none', false,
    '{unearned>burn_owed,to_deliver>burn_owed,unearned>share}'),

  -- A deposit: all of it is prepaid, and nothing is earned until a request of the tab spends it.
  ('payment.fulfil', 'payment', 'claimed', 'fulfilled', '{RequestFulfilled,TabOpened}', 'none', false, '{unearned>prepaid}'),
  ('payment.fulfil', 'payment', 'claimed.final', 'fulfilled.final', '{RequestFulfilled,TabOpened}', 'none', false, '{unearned>prepaid}'),
  ('payment.fulfil', 'payment', 'claimed', 'fulfilled', '{RequestFulfilled,TabToppedUp}', 'none', false, '{unearned>prepaid}'),
  ('payment.fulfil', 'payment', 'claimed.final', 'fulfilled.final', '{RequestFulfilled,TabToppedUp}', 'none', false, '{unearned>prepaid}'),

  ('payment.release', 'payment', 'claimed', 'released', '{RequestFailed}', 'none', false, '{exposed_contra>exposed}'),
  ('payment.release', 'payment', 'claimed.final', 'released.final', '{RequestFailed}', 'none', false, '{}'),
  ('payment.release', 'payment', 'streaming', 'released', '{AnswerBroken}', 'none', false, '{exposed_contra>exposed}'),
  ('payment.release', 'payment', 'streaming.final', 'released.final', '{AnswerBroken}', 'none', false, '{}'),

  -- The last permitted attempt failed. The payment no longer buys: it is owed back at once if it is final, else with its
  -- finality.
  ('payment.exhaust', 'payment', 'claimed', 'exhausted', '{RequestFailed,AttemptsExhausted}', 'none', false, '{exposed_contra>exposed}'),
  ('payment.exhaust', 'payment', 'streaming', 'exhausted', '{AnswerBroken,AttemptsExhausted}', 'none', false, '{exposed_contra>exposed}'),
  ('payment.exhaust', 'payment', 'claimed.final', 'refund_due', '{RequestFailed,AttemptsExhausted,RefundDue}', 'none', false, '{unearned>refund}'),
  ('payment.exhaust', 'payment', 'streaming.final', 'refund_due', '{AnswerBroken,AttemptsExhausted,RefundDue}', 'none', false, '{unearned>refund}'),

  -- The process of the attempt died and no caller took over; of a started answer neither length nor digest is known. The database
  -- judges the end of the lease, because the clock of the instance whose job asks may be wrong.
  ('payment.expire', 'payment', 'claimed', 'released', '{RequestFailed}', 'none', true, '{exposed_contra>exposed}'),
  ('payment.expire', 'payment', 'claimed.final', 'released.final', '{RequestFailed}', 'none', true, '{}'),
  ('payment.expire', 'payment', 'streaming', 'released', '{RequestFailed}', 'none', true, '{exposed_contra>exposed}'),
  ('payment.expire', 'payment', 'streaming.final', 'released.final', '{RequestFailed}', 'none', true, '{}'),
  ('payment.expire', 'payment', 'claimed', 'exhausted', '{RequestFailed,AttemptsExhausted}', 'none', true, '{exposed_contra>exposed}'),
  ('payment.expire', 'payment', 'streaming', 'exhausted', '{RequestFailed,AttemptsExhausted}', 'none', true, '{exposed_contra>exposed}'),
  ('payment.expire', 'payment', 'claimed.final', 'refund_due', '{RequestFailed,AttemptsExhausted,RefundDue}', 'none', true, '{unearned>refund}'),
  ('payment.expire', 'payment', 'streaming.final', 'refund_due', '{RequestFailed,AttemptsExhausted,RefundDue}', 'none', true, '{unearned>refund}'),

  -- Finality never comes in the middle of an attempt.
  ('payment.finalize', 'payment', 'released', 'released.final', '{PaymentFinalized}', 'none', false, '{}'),
  ('payment.finalize', 'payment', 'exhausted', 'refund_due', '{PaymentFinalized,RefundDue}', 'none', false, '{unearned>refund}'),
  ('payment.finalize', 'payment', 'fulfilled', 'fulfilled.final', '{PaymentFinalized}', 'none', false, '{exposed_contra>exposed}'),

  ('payment.reverse', 'payment', 'released', 'reversed', '{PaymentReversed,BurnReversed}', 'none', false,
    '{unearned>wallet,overpaid>wallet,burned_by_callers>burned}'),
  ('payment.reverse', 'payment', 'released', 'reversed', '{PaymentReversed}', 'none', false, '{unearned>wallet,overpaid>wallet}'),
  ('payment.reverse', 'payment', 'exhausted', 'reversed', '{PaymentReversed,BurnReversed}', 'none', false,
    '{unearned>wallet,overpaid>wallet,burned_by_callers>burned}'),
  ('payment.reverse', 'payment', 'exhausted', 'reversed', '{PaymentReversed}', 'none', false, '{unearned>wallet,overpaid>wallet}'),
  ('payment.reverse', 'payment', 'fulfilled', 'reversed', '{PaymentReversed,BurnReversed}', 'none', false,
    '{lost>wallet,overpaid>wallet,burned_by_callers>burned,exposed_contra>exposed}'),
  ('payment.reverse', 'payment', 'fulfilled', 'reversed', '{PaymentReversed}', 'none', false,
    '{lost>wallet,overpaid>wallet,burn_owed>wallet,exposed_contra>exposed}'),
  ('payment.reverse', 'payment', 'fulfilled', 'reversed', '{PaymentReversed,BurnOwedReversed}', 'none', false,
    '{lost>wallet,overpaid>wallet,burn_owed>to_deliver,exposed_contra>exposed}'),
  -- A dropped deposit: what the tab still has is taken back, and what it has spent is lost.
  ('payment.reverse', 'payment', 'fulfilled', 'reversed', '{PaymentReversed,DepositReversed}', 'none', false,
    '{lost>wallet,overpaid>wallet,prepaid>lost,exposed_contra>exposed}'),

  -- Only a final payment is owed back.
  ('payment.refund', 'payment', 'released.final', 'refund_due', '{RefundDue}', 'none', false, '{unearned>refund}'),

  -- Tokens that no request explains; those of a reversed payment count as never arrived.
  ('payment.unmatch', 'payment', '', 'unmatched', '{TransferReceived}', 'none', false, '{wallet>unmatched}'),
  -- Tokens that the treasury's wallet delivers for the burns of sales in dollars.
  ('payment.unmatch', 'payment', '', 'unmatched', '{TokensDelivered}', 'none', false, '{wallet>to_deliver}'),
  ('payment.unmatch', 'payment', 'submitted', 'unmatched', '{TransferReceived}', 'none', false, '{wallet>unmatched}'),
  ('payment.unmatch', 'payment', 'reversed', 'unmatched', '{TransferReceived}', 'none', false, '{wallet>unmatched}')
on conflict (step, from_state, event_kinds) do update set
  kind = excluded.kind, to_state = excluded.to_state, lease = excluded.lease, after_lease = excluded.after_lease, moves = excluded.moves;

insert into work.rules (kind, state, queue, due) values
  ('payment', 'submitted', 'submitted', 'created'),
  ('payment', 'claimed', 'finality', 'created'),
  ('payment', 'streaming', 'finality', 'created'),
  ('payment', 'released', 'finality', 'created'),
  ('payment', 'exhausted', 'finality', 'created'),
  ('payment', 'fulfilled', 'finality', 'created'),
  ('payment', 'claimed', 'lease', 'lease'),
  ('payment', 'claimed.final', 'lease', 'lease'),
  ('payment', 'streaming', 'lease', 'lease'),
  ('payment', 'streaming.final', 'lease', 'lease'),
  ('payment', 'released.final', 'undelivered', 'created')
on conflict (kind, state, queue) do update set due = excluded.due;
