/* The SHA-256 of each function of this release. Written by test/audit/releasedFunctions.pg.test.ts. */

const lines = `
f15508f6b06b89e2be0efffd6f222541edcbe794b27a5410682c27974a4f568f file functions/base58
90c8462cefe7be753d5f43fa13f9bb6aa16291ebb236d3aae235ab1b022bfdef file functions/burns
d4ea0967db40fcd28c06b221283e19e110f4e8a193aa65e84876e520835835fe file functions/holder_payouts
672d059e3848301c7d40716d63eea14e08a3efdc74b103854fc4c8e8683f5376 file functions/leases
af742d9d6c1015eb220b4b51d9e2241b0ac429b689afe3f583ad099a829360f9 file functions/news
89135565c8daa929c138a47adaf30cd889146cc79119aa5a1927f745a40490f9 file functions/payouts
932b9a7c302c88444729d4dd931cb66650ca97e9c6b9e9c9bfb1f512df287e5e file functions/presentations
be2a28532b33d7e492187573cf154ccf5f49bc28f06256c3dde4f6d0ab2681f4 file functions/quote_retention
c44942ceded43af790b3790923d8f6e75bcf68835bf6646abfdd3b105a3bc89c file functions/quotes
665c4a028f9ba96ae46a3d5b2cdc0538a426366290e90120b8733e971be721fa file functions/rate_counts
a3c4a80308e1bf13f9a0aacced6deb634d2ee4de3e91ceaca494fa410abf2f6d file functions/refunds
3b30f3b1b5476195c134a5197472890a06168ba90a4b3df25a48d514fa2c0f89 file functions/reports_add_entries
9e02272c8ac5416d1ae4f2bb02c790bbc3f1892eec1c23f9ad9d3ddcc7450fbc file functions/reports_add_shares
a5f8a9f476ea0644083faca86a9eed78138d303fc68c5f84c968c709e2d077f1 file functions/reports_list_payments
00fb17f27133a3ffd2d4393cd68feaceeb03c41344944930a32f8eacf991b333 file functions/reports_list_payouts
c0a1a2ecbb31a9fa2e1fb0582983502b07f1911c5a5ada2e6c83e23fbd680080 file functions/reports_list_prices
a3c3c3e49408118af7d561748713340155032e480c6e64af4323cd600f2ce39a file functions/reports_list_refunds
aa3aaa6c5ecc1fbef4c4498d3615a264cf2deb38a97feb0508e39916bf6aef83 file functions/reports_month_closed
27553fa27eec9bb2d987c6cd85128cd6745ebfc6bf2fc4d4e11b304ec2cc1451 file functions/reports_posted
70e7dcb123e18203bae0527f97cbb5ec81a6691b3a332f2b35c3e84a25c13f4d file functions/reports_reset
992cec8d07348a46ba52ed92c95f4aca58c2050c0030d30c246b55c5183c30df file functions/reports_roll_up
ce1c64d392ad467ac2d04231759a789b8a56d1ee6ec8d3244fddde374dab7015 file functions/seal
c54fa16a9d50f1f6a80e5160485f08a7134bab96f869fd423b63c6ce071f2f69 file functions/settings
2f7e268cc3ee0ebf073d68b7300b7f5de7cb3ea1d4f14903791311c9e9696764 file functions/signatures
7b488beec4f3167b80ac7cc8fbef7f00eef099df9c1033b2c764ccd43a0700e4 file functions/transfer_scans
10dc6c442a255066d43604acb10220b55ed9e222334319e232ea75d7efc3f740 file kinds/burn
06fb871467f7a249fe83bdc01b20afd0eac3e193e9a2b41e6ee48de178c2e5fd file kinds/holder_payout
ce4c0feaf80d12ca1c8a0a533bd063cc6ac386d9e1ee2ddcc394a721c65f3577 file kinds/payment
2fc814ba29fc175d153e87804eb1e7fe51a510f6f1dfabca01fdd719d6721a21 file kinds/payout
16735278a06d2d2751290ea8061715ed9a53c3a3cf41424be3b0b85a3b1e4a6c file kinds/price_list
2bbf75f153d1c239182d0730ce66f2fa3d987b40f37c234bf07acbe2321ff59d file kinds/refund
4c2c20eafbceb160d570f8d104c92003f7cf016f6002efac915b79d62309fee4 file kinds/setting
7284beb3cffd7c341adc9de61c8f17907579060f7ab586541fe5e613686e47bd file ledger/add_partitions
065018deb57eae9a1cd9e81ac87402dcc5f5bd65c3ea172a3c2adb8ad71446b2 file ledger/append
7ad859de02fc6c66e3d46fdc0eed454b2327731185fc898151417235206c9f76 file ledger/append_for_service
898a09074ed99ecc828b7d5b8a967623e29eb76ef871c76379ec02caffc6e9cc file ledger/append_one
f21df3caea8f7b921c4b2dac3ec450068ef0169cda943490eb846343baf43295 file ledger/end_notes
960cebd62a85bb9dfca7d17a4f6108cf412fc64668d0583fc8a18ed004549506 file ledger/follow
a12429d4b7cd178450eb4697320359ee3ddbd31a548629393ec817fa471310de file ledger/forget_old_notes
468876a7d27d54121833be323e2be110d18fe37d271990f8dc25039a2e9b1a76 file ledger/history
fb6121aa4b7690a4dd6297b61f73268932a54342d1b02a3ebfa1128152c107a7 file ledger/mark_notes
957f5f2c959604b4230ac9a6b1ff63e2bcfb2454a88e8f498c1413d614baca77 file ledger/next_time
de2218cc6d866f543d97e96b68ee1f43cc4e413e606268a6fb132a01a98de10c file ledger/read
71ecafc9e0f4d13b45a1b620c4c335e47b7ff89640b5d1a77200a6082c481241 ledger.add_partition(parent regclass, name text, bounds text[])
7e097f5d1c4a4fbb14417dc74e087e52cc722ad110acd348c59786dc38922922 ledger.add_partitions()
ce8a888f0f72b399b8c69c4b58f956e7096370921d6ec41d087f345b774b47ad ledger.append_as(writer text, ids bytea[], steps text[], expected integer[], leases_ms integer[], event_counts integer[], first_events integer[], event_items integer[], event_kinds text[], event_schemas smallint[], event_times_ms bigint[], event_starts integer[], event_lengths integer[], posting_starts integer[], posting_counts integer[], account_mints text[], account_names text[], posting_items integer[], posting_events integer[], debits integer[], credits integer[], amounts numeric[], guard_items integer[], guard_ids bytea[], guard_versions integer[], key_items integer[], key_spaces smallint[], key_values bytea[], key_digests bytea[], key_lives_s integer[], note_items integer[], note_values bytea[], bodies bytea, OUT recorded_at timestamp with time zone, OUT first_position bigint, OUT refusals text[], OUT leaf_hashes bytea)
23fb6d93adf50981d5d6dd6c288cd4ed7956a2bc170be65e29f3bb36a9379718 ledger.append_batch(ids bytea[], steps text[], expected integer[], leases_ms integer[], event_counts integer[], first_events integer[], event_items integer[], event_kinds text[], event_schemas smallint[], event_times_ms bigint[], event_starts integer[], event_lengths integer[], posting_starts integer[], posting_counts integer[], account_mints text[], account_names text[], posting_items integer[], posting_events integer[], debits integer[], credits integer[], amounts numeric[], guard_items integer[], guard_ids bytea[], guard_versions integer[], key_items integer[], key_spaces smallint[], key_values bytea[], key_digests bytea[], key_lives_s integer[], note_items integer[], note_values bytea[], bodies bytea, known_seq bigint, known_leaf bytea, known_timeline integer, OUT recorded_at timestamp with time zone, OUT first_position bigint, OUT refusals text[], OUT leaf_hashes bytea)
1f8f77ecb236d26780ae4d0689dd14145ceb5a882b6c50100a5c9f532b4d35aa ledger.append_one(writer text, step text, id bytea, expected integer, body bytea, mint text, debits text[], credits text[], amounts numeric[], guard_id bytea, key_space smallint, key_value bytea, OUT refusal text, OUT seq bigint, OUT leaf_hash bytea, OUT recorded_at timestamp with time zone)
0067080e3e59dee299e33dc9f6c56125e7ea1a7f3cea7e63079218503d4146ad ledger.base58_bytes(written text)
47cb00a7d387db6a3acce125a541d5d18402a1e466467093b5b33adf9fe58210 ledger.change_setting(body bytea)
02567655a76625c5477274c35b39bfcb52986d2ed4c2f76e113f7b17d9300287 ledger.drop_old_quotes(retention_days integer)
eff189374c4851271a1b1efceab7bb9e2ccea3fa28c049695b2286d7d02cf59b ledger.end_notes(ids bytea[])
da6761e0e6b3f90c7e93f514a7a4d9935ff0f314d2cc649e0eff578ef05d52c7 ledger.find_bound_quote(paying_wallet text, paid_endpoint text, wanted_memo text, landed_at timestamp with time zone, landed_slot bigint, grace interval)
2699c4a9c1e4368c292d9a52e72a1a8c66a5ad6692ab6b574725d3f1dde5f978 ledger.find_open_quote(paying_wallet text, paid_endpoint text, landed_at timestamp with time zone, landed_slot bigint, grace interval)
71e2d4e5c6b797038313b630a8075e4b8ff3d1b317e48fda0b1c80f6442ab2b5 ledger.forget_notes_beyond(notes_max bigint, bytes_max bigint)
4bd7468116db8b307a9d8b76e64f46abce06c636d7526f0cafd5bacc640e252b ledger.forget_old_notes()
4be2e3c1aa9c9f70a1e982a62ab1f404d21f4bbbe2fefd09a3bd45ba5fe36264 ledger.has_event(wanted_seq bigint, wanted_leaf bytea)
152a07d68decc2e96c91befaf17507473a044f9501d2f682f02eb57dce1bbebe ledger.identify(known_seq bigint, OUT system_identifier text, OUT timeline integer, OUT head_seq bigint, OUT head_leaf bytea, OUT known_leaf bytea, OUT lost_number bigint, OUT lost_seq bigint, OUT lost_leaf bytea)
d70ee91dceefee4802aa5177692f396ac85a31db241608ab664b426bb0f689c3 ledger.mark_notes(ids bytea[], repeat_seconds integer)
1c7b19d8f61343a47ad445dc75e81fc12b80871c31d146723faba201b3c5b406 ledger.needed_quotes()
b6e3af393df672c26f9885d52c58a086fa850310fc61e8eeb47dca31ae3e4093 ledger.next_time(ledger_time timestamp with time zone, clock_before timestamp with time zone, OUT next_time timestamp with time zone, OUT clock timestamp with time zone)
ec0740c91a5a8744f588e44336c8e83fe11053472f0bb4951b45c979c272c7c8 ledger.probe_commit()
ecb8f614a5052f2a0b632a18982547b499d2ad0a0ca74dd769ecf13a3b6800bb ledger.protect_kept(protected regclass)
6275d57e520876fd7015adc2c1edd4a2807f28c15a85f355ff290ba498cc5a7f ledger.protect_log(protected regclass)
f2021c7f5203fab5cab5b050fad97b5325ab22ccac6c6c6da4f670d4d49e08f7 ledger.protect_projection(protected regclass)
0d0c597214e9dcfbb27d7c4ba4d37f4248da9e4971a036d43dba549d2afc82d8 ledger.quote_days()
6bab3febbdf557907da29505149bf75f71ccb5ed16dc718e8e441e534c1c1505 ledger.quote_storage()
7528b3e4e9274cde7be3bdc36949c23579b54b46db585933885ec9e1f783e5c3 ledger.read(stream_id bytea)
62eb61cd40b545f903fc2f2940af78c6cf36640782c74aa599236efe03d5f1c0 ledger.read_many(stream_ids bytea[])
bf537961fdacfaf70a5c2f8ee374eebf0f8fbfffbe6bef26b2de1379b5ec514b ledger.record_booking(payment_body bytea, approval_body bytea)
b1403c20007ea9d43f3d9f67f990282371784af34afda4940d03b4be58048536 ledger.record_burn(body bytea)
3aabce579cf5adf1c3ac7d3fa795f7cef49653e65846d213e3348a49b5d73dc0 ledger.record_holder_payout(body bytea)
61d64978bf77b80c30f83249a64a0018b1863002adf5070a23cbbb1af61c95e8 ledger.record_payout(body bytea)
b1cbf616769d1191dc90735f7350240ecefacc71e97d12ebda0a2d68460e8b3f ledger.record_quotes(ids text[], wallets text[], endpoints text[], memos text[], price_lists integer[], mints text[], required numeric[], issued_ms bigint[], expires_ms bigint[], slots bigint[])
6cbf042ca0ecf1171fc789d477b33e1c7f471984460a14a7c1b106baf6a1a9a1 ledger.record_refund(body bytea)
3c2d1d8eec8bb85cdd9ffdbe8e559a9b72803cb36f34a9d17f6a15dc3d90466d ledger.refuse_change()
73f0762d0386930ad789b9c1ccd4071830e5e88312329c2b141824036adeae53 ledger.refuse_direct_write()
5b942fcc18fa5d64df7fb474675d6976cc040fa850642bb37d06d0f05153e046 ledger.report_lost_history(lost_seq bigint, lost_leaf bytea, reporter text)
3d6210d61f7fb07e3e730d3aac6a7408afcf9a4d26ae8a50c899015dd3b68c7a ledger.require_history(known_seq bigint, known_leaf bytea, known_timeline integer)
972e0507c05d84819e57b803e28fd73cb7bc8070b63266a676c91c7a9fe56f9b ledger.seal(lease_name text, lease_epoch bigint, tree_size bigint, tree_root bytea, signed_note text, tile_levels smallint[], tile_indexes bigint[], tile_hashes bytea[], tile_roots bytea[])
ba06a93a0890985c1fa009bc02ec3cd484d843856436a559457d3bf28e3354f9 ledger.setting_at(wanted text, at timestamp with time zone)
cf29196b62b939eda4075b9cf09e56c1a97692841eb03829378b3ccc310c278e news.choose_lead(of_cluster uuid)
3bffa1948ae8e92c250801f98a9dd83d9597b6230338755ad90d3d9bbe2ceb1c news.find_cluster(wanted_key text, wanted_words text[], wanted_at timestamp with time zone, is_sample boolean, but_not bytea)
b821cc087f1d29621ee3fc4e4aa635641ac3f432c3036d06199924d244687553 news.forget_old()
4192986829ec39f7263a777161458202b7e18de920e0e3186d87f5227a39ae2f news.keep_stories(url_keys text[], urls text[], titles text[], title_keys text[], story_keys text[], publishers text[], descriptions text[], image_urls text[], languages text[], ranks integer[], published_ms bigint[], provider text, feed text, category text, question text)
31adbb9c242f5a3bccc53e0a7d3cf187be84f10d5211fd7166b9b1aac3510dbd news.poll_failed(polled text)
4df9b08f68fe2fceab8435961afdc1f656e8203eb3d61f456a3d480cebb0f762 news.poll_succeeded(polled text, next_ms integer, new_etag text, new_last_modified text)
8ffa8e2a22ffaf329f47867d15947ba5a6918afd41debf5736a81d66df9918f7 news.take_poll(names text[], lanes text[], wanted_categories text[], spacings_ms integer[], lease_ms integer)
4a161f780072874f9e1f2706088be9634e0a28d50c57266d454a7abfadc8ff0d news.trust(provider text)
ec837006c7e05e0599615edaad962e89a8c00638f6f4794a24a12d891dec6075 paywall.move_transfer_scan(token_account text, signature text, slot bigint)
e8a5476b987c72806574d316770459488db22de0a4a02a1105613e6f8010b15d paywall.move_transfer_scan_under_lease(lease_name text, lease_epoch bigint, token_account text, signature text, slot bigint)
ae656337376afbf6469cb89dc8feed2bca3bb6ad89026d86ed716b75e42fbc50 reports.add_entries(from_seq bigint, to_seq bigint)
b62f284b161159071e331b6e3725466ea2e886165f472729a321b5eeb14cf49f reports.add_shares(known jsonb, more jsonb)
efeae5f1891066135c4e8a663c3cfb362218ebfaeac861d57dbd1e647dc0e8e7 reports.list_payments(from_seq bigint, to_seq bigint)
9cf2aa056ffa945e34dc75973a8029f7a810994b517c7e4d434f51202f3acb39 reports.list_payouts(from_seq bigint, to_seq bigint)
593b74d7ae951a3381101e20b84480baed293564a29d3d474ebbac3e19f5e1c3 reports.list_prices(from_seq bigint, to_seq bigint)
85d92126a1447c2435ed671ff5796f946c1e8ffc49d609d0cb00ca26d3a3cf53 reports.list_refunds(from_seq bigint, to_seq bigint)
f1d1146018758acd738590248a4d70017293e1801bb4d26b803f94cca4ad6705 reports.month_closed_at(effective_at timestamp with time zone)
9bf22f56a70a81ae5390277c7061dbca52be72230c8eea0f9eee3660a79e162e reports.reset()
a2abfaf618214b25f3d30817042779e6cf286120346fe95452e7d3c43b0bfcd8 reports.roll_up(events_max integer)
c1a48760fcbf41c7697a6b12b47b32813d792e239c4905188c85447c5dd4c96d reports.roll_up_in_turn(events_max integer)
62a0f696f734dfb972fdf516a92b048d4a455a46bf6671007946d4f9cd2266c9 signer.find_signature(given_digest bytea, given_wallet text)
3a859098f1323a20cfb602753dba08ceb687911ccb2a8d9bd04f822a13abed1c signer.landing_time()
d6983c1e8883e1a15a52cb8511aeb9dcf668e4f79333537300883753bfc1693f signer.record_outcome(given_digest bytea, given_outcome text)
c7658bcfd1e0843abf1e5085b040ece9f76ed083c2a895c63d3a2e7b7ba4149e signer.record_signature(given_digest bytea, given_signature bytea, given_wallet text, given_amount numeric, given_lamports bigint, held numeric, as_of timestamp with time zone, lamports_per_day bigint, lamports_per_wallet bigint)
c66435d4625891d61a0e951504826ba83e57905658a4591bbb698229327c434c signer.settle(of_wallet text)
9b3e2e0be602d6e12eb931ec975c44ff32270de68170722eaa3a81086a305224 signer.spent_today()
e08a553b08f973f5e60a6ded53a732daef627e8e9a932e591330fbabbc2ddff9 work.end_lease(lease_name text, lease_epoch bigint)
4d4fc836c9f694d305a5cb37c1c7521adc41c679ce8d0e18ad973d1f5ea91668 work.follow(events_max integer)
7bed1783153191a8292b4100e41342cfc88538ad28e01b79895f8c4d474a560b work.forget_old_presentations()
8f5d69b541af46f2b3d7b3febbc887d60661b75e0aa3d2482e77423b60a8a16c work.is_behind()
36823c5c1207d1de4e782bb202b32399a7366473ef7d672748c048fd88f50702 work.record_payout_attempt(plan_id text, part integer, signature text, last_valid_height bigint, transaction bytea, replaced text)
f1bd8735a0846cbb8acca17b93bf33142c4043414a8ecdc10c1313e4141cb2fe work.record_presentation(given_reference bytea, given_wallet text, given_presented_at timestamp with time zone, given_last_valid_height bigint)
f5503fdba63971ba660afca25932fea681a092328ee9a5e87f2a95ed761437a2 work.renew_lease(lease_name text, lease_epoch bigint)
f82f5bdfb125d7597c5101fc0b767c8c0f93d35f01aff58e797cc2e7afefac62 work.require_lease(lease_name text, lease_epoch bigint)
0d5f4dfce1293d06560de01010400fc4feb1afc266340b61b28c3b0eb07c922e work.share_rates(limit_names text[], clients text[], time_windows bigint[], more bigint[], ends_ms bigint[])
737a33811771d81889f76356d5ca55e575150014dace6fe195a12f61625ff2e2 work.take_lease(lease_name text, wanted_by text, for_ms integer)
`

export const releasedFunctions: readonly { readonly name: string; readonly digest: string }[] = lines
  .trim()
  .split('\n')
  .map((line) => ({ digest: line.slice(0, line.indexOf(' ')), name: line.slice(line.indexOf(' ') + 1) }))
