-- Why: the burn job and the age of the oldest debt read the few events that concern owed burns, among any number of others.
-- The predicate is false for the events of native payments, so their appends write no further index entry.
create index events_of_burns on ledger.events (kind, seq)
  where kind in ('BurnOwed', 'PaymentReversed', 'BurnSubmitted', 'BurnConfirmed', 'BurnFailed');

-- The burn job reads which payments are final (docs/decisions/0035), and which wallet is in force.
grant usage on schema work to tollbook_burner;
grant select on work.open, work.progress, ledger.settings to tollbook_burner;
