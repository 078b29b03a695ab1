-- Why: the fee payer signs payments in dollars too (docs/dollars.md), and a balance covers only payments in its own mint.

-- Null: a payment in the service token.
alter table signer.signatures add column dollar text
  constraint signatures_dollar_is_an_address check (length(dollar) between 32 and 44);

-- Replaced by a function that also takes the mint. A signer of the release before calls it without.
drop function if exists signer.record_signature(bytea, bytea, text, numeric, bigint, numeric, timestamptz, bigint, bigint);
