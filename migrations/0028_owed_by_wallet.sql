-- Why: with a million payments, the refunds of one wallet and its payments in a rare state were found among all its payments, and
-- the payment of a receipt by a search of the whole tree. Release 0027 runs on this schema.

-- Nearly no payment is in these.
create index payments_owed_by_wallet on reports.payments (wallet, paid_at, stream) where owed > 0;
create index payments_unsettled_by_wallet on reports.payments (wallet, state, paid_at, stream) where state <> 'fulfilled';
create index payments_unsettled_by_endpoint on reports.payments (endpoint, state, paid_at, stream) where state <> 'fulfilled';

-- The id of the receipt: the first 16 bytes of the leaf hash of the delivery.
alter table reports.payments add column receipt bytea;
update reports.payments p set receipt = substr(e.leaf_hash, 1, 16)
from ledger.events e
where e.kind = 'RequestFulfilled' and e.stream = p.stream;
create index payments_by_receipt on reports.payments (receipt) where receipt is not null;
