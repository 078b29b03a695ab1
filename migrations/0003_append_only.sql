-- Why: rows never change (I22). The service has no right to write; these triggers stop the owner, and slips of people
-- who work as the owner. A superuser can still do anything: checkpoints kept elsewhere answer that one.

-- `ledger.writing` is set by the functions of the write path alone, for the time that they run.
create function ledger.refuse_change() returns trigger
language plpgsql
as $$
begin
  raise exception '% on %.% is refused: the ledger is append-only', tg_op, tg_table_schema, tg_table_name
    using errcode = 'insufficient_privilege', hint = 'Correct with a new event. See docs/decisions/0002.';
end
$$;

create function ledger.refuse_direct_write() returns trigger
language plpgsql
as $$
begin
  if current_setting('ledger.writing', true) is distinct from 'on' then
    raise exception '% on %.% is refused: only ledger.append and its companions write here', tg_op, tg_table_schema, tg_table_name
      using errcode = 'insufficient_privilege', hint = 'See docs/decisions/0003.';
  end if;
  return null;
end
$$;

-- Log: rows are added by the write path and never touched again. TRUNCATE triggers are not inherited by partitions, so
-- this is called for each of them.
create function ledger.protect_log(protected regclass) returns void
language plpgsql
as $$
begin
  execute format('create trigger log_never_changes before update or delete on %s for each statement execute function ledger.refuse_change()', protected);
  execute format('create trigger log_is_never_emptied before truncate on %s for each statement execute function ledger.refuse_change()', protected);
  execute format('create trigger log_is_written_by_functions before insert on %s for each statement execute function ledger.refuse_direct_write()', protected);
  execute format('alter table %s enable always trigger log_never_changes', protected);
  execute format('alter table %s enable always trigger log_is_never_emptied', protected);
  execute format('alter table %s enable always trigger log_is_written_by_functions', protected);
end
$$;

-- Projection: the write path moves it along with the log, in the same database transaction.
create function ledger.protect_projection(protected regclass) returns void
language plpgsql
as $$
begin
  execute format('create trigger projection_follows_the_log before insert or update on %s for each statement execute function ledger.refuse_direct_write()', protected);
  execute format('create trigger projection_never_shrinks before delete on %s for each statement execute function ledger.refuse_change()', protected);
  execute format('create trigger projection_is_never_emptied before truncate on %s for each statement execute function ledger.refuse_change()', protected);
  execute format('alter table %s enable always trigger projection_follows_the_log', protected);
  execute format('alter table %s enable always trigger projection_never_shrinks', protected);
  execute format('alter table %s enable always trigger projection_is_never_emptied', protected);
end
$$;

select ledger.protect_log(protected)
from unnest(array['ledger.events', 'ledger.entries', 'ledger.quotes', 'ledger.price_lists']::regclass[]) as protected;

select ledger.protect_projection(protected)
from unnest(array['ledger.head', 'ledger.payments', 'ledger.balances', 'ledger.burn_totals']::regclass[]) as protected;

-- A partition is made beside its parent and then attached, which does not block readers or writers of the parent.
create function ledger.add_partition(parent regclass, name text, bounds text[]) returns void
language plpgsql
as $$
begin
  if to_regclass('ledger.' || quote_ident(name)) is not null then
    return;
  end if;
  execute format('create table ledger.%I (like %s including all)', name, parent);
  perform ledger.protect_log(('ledger.' || quote_ident(name))::regclass);
  execute format('alter table %s attach partition ledger.%I for values from (%L) to (%L)', parent, name, bounds[1], bounds[2]);
end
$$;

-- Ten million positions a partition. Keeps two ahead of the head, and quotes for a week ahead. Safe to call at any time
-- from any instance.
create function ledger.add_partitions() returns void
language plpgsql
security definer
set search_path = ''
as $$
declare
  positions_each constant bigint := 10000000;
  first bigint;
  day date;
begin
  perform pg_advisory_xact_lock(hashtext('ledger.add_partitions'));
  select h.seq / positions_each into first from ledger.head h;
  for part in first .. first + 1 loop
    perform ledger.add_partition('ledger.events', 'events_' || part,
      array[(part * positions_each)::text, ((part + 1) * positions_each)::text]);
    perform ledger.add_partition('ledger.entries', 'entries_' || part,
      array[(part * positions_each)::text, ((part + 1) * positions_each)::text]);
  end loop;
  for ahead in -1 .. 7 loop
    day := (now() at time zone 'UTC')::date + ahead;
    perform ledger.add_partition('ledger.quotes', 'quotes_' || to_char(day, 'YYYYMMDD'),
      array[day::text || ' 00:00:00+00', (day + 1)::text || ' 00:00:00+00']);
  end loop;
end
$$;

select ledger.add_partitions();
