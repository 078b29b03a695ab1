-- Why: a request on a tab is charged by one event, whose burn the burn job reads by position as it reads `BurnOwed`. The
-- predicate is false for every event of the release before, so its appends write no further index entry. An operator may
-- have built it beforehand, without a pause in sales (CHANGELOG.md).
create index if not exists events_of_captures on ledger.events (seq) where kind = 'TabCaptured';
