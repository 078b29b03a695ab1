-- Why: the signer of network fees may run on any machine, so its signatures and budgets are in the ledger's database and
-- not in a file (docs/decisions/0032). Not part of the ledger: a row is a promise of lamports, and moves no tokens.

-- One row for each message that the fee payer has signed.
create table signer.signatures (
  -- SHA-256 of the message.
  digest bytea not null,
  -- The id of the transaction, and of its payment in the ledger.
  signature bytea not null,
  wallet text not null,
  -- Base units that the transaction transfers.
  amount numeric(20, 0) not null,
  -- The most that the transaction can cost the fee payer.
  lamports bigint not null,
  -- The UTC day whose budget was charged.
  day date not null,
  signed_at timestamptz not null,
  -- 'paid': the ledger has the payment. 'failed': it landed without effect, or did not land in time. 'absent': it provably never
  -- lands, and costs nothing. Null: not known yet.
  outcome text,
  settled_at timestamptz,
  constraint signatures_one_for_each_message primary key (digest),
  constraint signatures_digest_is_sha256 check (octet_length(digest) = 32),
  constraint signatures_signature_is_ed25519 check (octet_length(signature) = 64),
  constraint signatures_wallet_is_an_address check (length(wallet) between 32 and 44),
  constraint signatures_amount_is_positive check (amount > 0),
  constraint signatures_cost_lamports check (lamports > 0),
  constraint signatures_outcome_is_known check (outcome in ('paid', 'failed', 'absent')),
  constraint signatures_settled_with_an_outcome check ((outcome is null) = (settled_at is null))
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
create index signatures_by_wallet on signer.signatures (wallet, signed_at);
create index signatures_by_age on signer.signatures (signed_at);
-- Nearly every signature is followed by a payment.
create index signatures_unpaid on signer.signatures (signed_at) where outcome is distinct from 'paid';

-- Lamports charged to a UTC day. Its row is locked while a signature is decided.
create table signer.days (
  day date not null,
  lamports bigint not null,
  constraint days_one_row_each primary key (day),
  constraint days_lamports_are_not_negative check (lamports >= 0)
) with (fillfactor = 50);
