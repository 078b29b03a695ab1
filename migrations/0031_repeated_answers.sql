-- Why: an answer stays stored for a short time after it was sent (docs/decisions/0021), and is found by that time to be deleted.
create index notes_by_sending on ledger.notes (sent_at) where not is_keyed and sent_at is not null;
