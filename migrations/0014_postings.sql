-- Why: a null array made the older check of postings null, which passes, so the table itself took a posting with one side.
-- This one is never null; `not valid` spares a scan under the lock, because ledger.append never wrote such an event.

alter table ledger.events add constraint events_postings_have_both_sides check (
  case when debits is null and credits is null and amounts is null then true
  else coalesce(
    cardinality(debits) = cardinality(amounts) and cardinality(credits) = cardinality(amounts)
      and array_position(debits, null) is null and array_position(credits, null) is null
      and array_position(amounts, null) is null and 0 < all (amounts),
    false)
  end) not valid;
