-- One stream per published list: `prices#17`. The service publishes; a guard on `prices#16` makes the numbers gapless.
insert into ledger.kinds (kind, space, id_prefix, is_setting) values ('price_list', 3, 'prices#', true)
on conflict (kind) do update set
  space = excluded.space, id_prefix = excluded.id_prefix, is_setting = excluded.is_setting;

insert into ledger.steps (step, kind, from_state, to_state, event_kinds) values
  ('price_list.publish', 'price_list', '', 'published', '{PriceListPublished}')
on conflict (step, from_state, event_kinds) do update set kind = excluded.kind, to_state = excluded.to_state;
