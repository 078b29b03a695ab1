-- One stream per value of a setting of the ledger: `receipt-key#1`. The service records the first value at its first start;
-- later ones are the operator's, by ledger.change_setting. A number follows the one before it (ledger.append_batch).
insert into ledger.kinds (kind, space, is_setting) values ('setting', 3, true)
on conflict (kind) do update set space = excluded.space, is_setting = excluded.is_setting;

insert into ledger.steps (step, kind, from_state, to_state, event_kinds, writer, number_max) values
  ('setting.record', 'setting', '', 'set', '{SettingChanged}', 'service', 1),
  ('setting.change', 'setting', '', 'set', '{SettingChanged}', 'operator', null)
on conflict (step, from_state, event_kinds) do update set
  kind = excluded.kind, to_state = excluded.to_state, writer = excluded.writer, number_max = excluded.number_max;
