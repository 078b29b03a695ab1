-- Records a first presentation and returns the one on record. A new row pushes out the oldest one above the limit, so a
-- stranger's junk costs one row, and the table at most rows_max of them.
create or replace function work.record_presentation(
  given_reference bytea, given_wallet text, given_presented_at timestamptz, given_last_valid_height bigint)
returns table (presented_at timestamptz, last_valid_height bigint)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  rows_max constant bigint := 200000;
  given_number bigint;
begin
  -- A conflict uses up a number too, and the retries of an outage would then push out the payments that they repeat.
  insert into work.presentations (reference, wallet, presented_at, last_valid_height)
  select given_reference, given_wallet, given_presented_at, given_last_valid_height
  where not exists (select from work.presentations p where p.reference = given_reference and p.wallet = given_wallet)
  on conflict (reference, wallet) do nothing
  returning number into given_number;
  -- Two at most, so that a lowered limit is reached and no call is slow.
  if given_number is not null then
    delete from work.presentations
    where number in (
      select p.number from work.presentations p where p.number <= given_number - rows_max
      order by p.number limit 2 for update skip locked);
  end if;
  return query
    select p.presented_at, p.last_valid_height
    from work.presentations p
    where p.reference = given_reference and p.wallet = given_wallet;
end
$$;
grant execute on function work.record_presentation to tollbook_service;

-- A day is longer than any outage that a payer waits for.
create or replace function work.forget_old_presentations() returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  forgotten bigint;
begin
  delete from work.presentations where recorded_at <= clock_timestamp() - interval '24 hours';
  get diagnostics forgotten = row_count;
  return forgotten;
end
$$;
grant execute on function work.forget_old_presentations to tollbook_service;
