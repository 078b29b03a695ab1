-- One stream per change of a setting of the ledger: `receipt-key#1`. Recorded by ledger.change_setting alone.
insert into ledger.kinds (kind, space, is_setting) values ('setting', 3, true)
on conflict (kind) do update set space = excluded.space, is_setting = excluded.is_setting;

insert into ledger.steps (step, kind, from_state, to_state, event_kinds, writer) values
  ('setting.change', 'setting', '', 'set', '{SettingChanged}', 'operator')
on conflict (step, from_state, event_kinds) do update set
  kind = excluded.kind, to_state = excluded.to_state, writer = excluded.writer;
