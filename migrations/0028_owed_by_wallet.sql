-- Why: with a million payments, the refunds of one wallet and its payments in a rare state were found among all its payments, and
-- the payment of a receipt by a search of the whole tree. Release 0027 runs on this schema.

-- Nearly no payment is in these.
create index payments_owed_by_wallet on reports.payments (wallet, paid_at, stream) where owed > 0;
create index payments_unsettled_by_wallet on reports.payments (wallet, state, paid_at, stream) where state <> 'fulfilled';
create index payments_unsettled_by_endpoint on reports.payments (endpoint, state, paid_at, stream) where state <> 'fulfilled';

-- The id of the receipt: the first 16 bytes of the leaf hash of the delivery.
alter table reports.payments add column receipt bytea;
-- Positions that were rolled up without it. The next roll-ups fill them step by step, because an update of all payments would
-- close the reports for minutes.
alter table reports.progress add column receipts_missing int8range not null default 'empty';
update reports.progress set receipts_missing = int8range(1, upto_seq, '[]') where one and upto_seq > 0;
create index payments_by_receipt on reports.payments (receipt) where receipt is not null;
