-- Why: the operator changes settings of the ledger and compares them before, and payouts leave the wallets on record.
grant select on ledger.settings to tollbook_operator, tollbook_payout;
