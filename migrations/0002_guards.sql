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
      using errcode = 'insufficient_privilege', hint = 'See docs/decisions/0002.';
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

-- Kept for a time: written and deleted by functions alone.
create function ledger.protect_kept(protected regclass) returns void
language plpgsql
as $$
begin
  execute format('create trigger kept_by_functions before insert or update or delete on %s for each statement execute function ledger.refuse_direct_write()', protected);
  execute format('create trigger kept_is_never_emptied before truncate on %s for each statement execute function ledger.refuse_change()', protected);
  execute format('alter table %s enable always trigger kept_by_functions', protected);
  execute format('alter table %s enable always trigger kept_is_never_emptied', protected);
end
$$;

