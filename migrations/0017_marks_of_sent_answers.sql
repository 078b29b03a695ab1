-- Why: the mark of a sent answer was a quarter of the log of a request on a tab. The indexes on its times made each mark a
-- second copy of the answer, with new entries in all indexes. Without them a mark changes the row in its place.
drop index ledger.notes_by_time;
drop index ledger.notes_by_sending;
-- Room for the mark on the page of the note.
alter table ledger.notes set (fillfactor = 50);

-- Notes to be deleted when their time is over: those of one call of ledger.mark_notes in one row.
create table ledger.sent_notes (
  sent_at timestamptz not null,
  number bigint generated always as identity,
  ids bytea[] not null,
  constraint sent_notes_one_row_each primary key (sent_at, number)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
-- Notes that the release before this one has marked.
insert into ledger.sent_notes (sent_at, ids)
select max(n.sent_at), array_agg(n.id) from ledger.notes n where not n.is_keyed and n.sent_at is not null having count(*) > 0;
select ledger.protect_kept('ledger.sent_notes');
