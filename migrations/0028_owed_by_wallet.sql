-- Why: the refunds of one wallet, and its payments in a rare state, were found among all its payments, which are a
-- million for a program that buys in a loop. Nearly no payment is in these indexes. Release 0027 runs on this schema.
create index payments_owed_by_wallet on reports.payments (wallet, paid_at, stream) where owed > 0;
create index payments_unsettled_by_wallet on reports.payments (wallet, state, paid_at, stream) where state <> 'fulfilled';
create index payments_unsettled_by_endpoint on reports.payments (endpoint, state, paid_at, stream) where state <> 'fulfilled';
