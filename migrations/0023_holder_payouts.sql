-- Why: a share can be divided among the holders of the token (docs/decisions/0045). Each transaction of a payout is on record
-- before it is sent, so that no kill and no second machine sends a part twice. It only adds: the release before it runs on this schema.

-- Not part of the ledger: the last transaction that was signed for each part of a plan. One that has landed becomes a
-- DistributionPaid; one that never can is replaced by the next.
create table work.payout_attempts (
  plan_id text not null,
  part integer not null,
  signature text not null,
  -- The transaction cannot land in a block above this height.
  last_valid_height bigint not null,
  transaction bytea not null,
  attempted_at timestamptz not null default clock_timestamp(),
  constraint payout_attempts_one_for_each_part primary key (plan_id, part),
  constraint payout_attempts_count_parts check (part > 0),
  constraint payout_attempts_height_is_positive check (last_valid_height > 0),
  constraint payout_attempts_fit_a_transaction check (octet_length(transaction) between 1 and 1232)
);
grant select on work.payout_attempts to tollbook_payout;

-- The plan that is open, and what was paid by it, are read before each payout.
create index events_of_payouts on ledger.events (kind, seq)
  where kind in ('DistributionPaid', 'HolderPayoutPlanned', 'HolderPayoutEnded');
