-- Why: a request on a tab is charged by one event, whose burn the burn job reads by position as it reads `BurnOwed`. The
-- predicate is false for every event of the release before, so its appends write no further index entry.
create index events_of_captures on ledger.events (seq) where kind = 'TabCaptured';
