-- For the operator role: the body of one SettingChanged. Numbers are gapless per name; prices are the service's own.
create or replace function ledger.change_setting(body bytea)
returns table (refusal text, seq bigint, leaf_hash bytea, recorded_at timestamptz)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  said constant jsonb := convert_from(change_setting.body, 'UTF8')::jsonb;
begin
  if said ->> 'kind' is distinct from 'SettingChanged' or said ->> 'version' is distinct from '1'
    or said ->> 'schemaVersion' is distinct from '1'
    or said ->> 'stream' is distinct from (said ->> 'name') || '#' || (said ->> 'number') or said ->> 'name' = 'prices' then
    raise exception 'the body is not a SettingChanged' using errcode = 'check_violation';
  end if;
  return query select t.refusal, t.seq, t.leaf_hash, t.recorded_at from ledger.append_one(
    'operator', 'setting.change', '\x03'::bytea || convert_to(said ->> 'stream', 'UTF8'), 0, change_setting.body, '', '{}', '{}', '{}') t;
end
$$;
grant execute on function ledger.change_setting to tollbook_operator;

-- The setting in force at a moment; the first one, if none was in force yet. The newest number decides, not the latest
-- time:
-- the clocks of instances differ a little.
create or replace function ledger.setting_at(wanted text, at timestamptz) returns setof ledger.settings
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
  (select s.* from ledger.settings s where s.name = wanted and s.valid_from <= at order by s.number desc limit 1)
  union all
  (select s.* from ledger.settings s where s.name = wanted and s.number = 1
    and not exists (select from ledger.settings e where e.name = wanted and e.valid_from <= at))
$$;
grant execute on function ledger.setting_at to tollbook_service, tollbook_reader;
