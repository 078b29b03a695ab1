-- columns of tables and types
ledger.accounts id integer not null
ledger.accounts mint text not null
ledger.accounts name text not null
ledger.accounts class text not null
ledger.accounts hourly boolean not null
ledger.accounts floor numeric(38,0)
ledger.accounts ceiling numeric(38,0)
ledger.accounts balance numeric(38,0) not null default 0
ledger.accounts entries bigint not null default 0
ledger.accounts debit_entries bigint not null default 0
ledger.accounts upto_seq bigint not null default 0
ledger.batch ids bytea[]
ledger.batch steps text[]
ledger.batch expected integer[]
ledger.batch leases_ms integer[]
ledger.batch event_counts integer[]
ledger.batch first_events integer[]
ledger.batch event_items integer[]
ledger.batch event_kinds text[]
ledger.batch event_schemas smallint[]
ledger.batch event_times_ms bigint[]
ledger.batch event_starts integer[]
ledger.batch event_lengths integer[]
ledger.batch posting_starts integer[]
ledger.batch posting_counts integer[]
ledger.batch account_mints text[]
ledger.batch account_names text[]
ledger.batch posting_items integer[]
ledger.batch posting_events integer[]
ledger.batch debits integer[]
ledger.batch credits integer[]
ledger.batch amounts numeric[]
ledger.batch guard_items integer[]
ledger.batch guard_ids bytea[]
ledger.batch guard_versions integer[]
ledger.batch key_items integer[]
ledger.batch key_spaces smallint[]
ledger.batch key_values bytea[]
ledger.batch key_digests bytea[]
ledger.batch key_lives_s integer[]
ledger.batch note_items integer[]
ledger.batch_accounts ids integer[]
ledger.batch_accounts classes text[]
ledger.batch_accounts hourly boolean[]
ledger.batch_accounts balances numeric[]
ledger.batch_accounts floors numeric[]
ledger.batch_accounts ceilings numeric[]
ledger.checkpoints size bigint not null
ledger.checkpoints root bytea not null
ledger.checkpoints note text not null
ledger.checkpoints sealed_at timestamp with time zone not null
ledger.classes class text not null
ledger.classes prefix text not null
ledger.classes is_exact boolean not null
ledger.classes floor numeric(38,0)
ledger.classes ceiling numeric(38,0)
ledger.classes hourly boolean not null default false
ledger.code name text not null
ledger.code digest bytea not null
ledger.code applied_at timestamp with time zone not null
ledger.events seq bigint not null
ledger.events stream bigint not null
ledger.events version integer not null
ledger.events kind text not null
ledger.events schema_version smallint not null
ledger.events recorded_at timestamp with time zone not null
ledger.events effective_at timestamp with time zone not null
ledger.events debits integer[]
ledger.events credits integer[]
ledger.events amounts numeric[]
ledger.events body bytea not null
ledger.events leaf_hash bytea not null
ledger.head one boolean not null default true
ledger.head seq bigint not null
ledger.head recorded_at timestamp with time zone not null
ledger.head clock_at timestamp with time zone not null
ledger.head leaf_hash bytea
ledger.judgement verdicts text[]
ledger.judgement kinds text[]
ledger.judgement to_states text[]
ledger.judgement streams bigint[]
ledger.judgement has_settings boolean
ledger.keys space smallint not null
ledger.keys key bytea not null
ledger.keys id bytea not null
ledger.keys digest bytea
ledger.keys until timestamp with time zone
ledger.kinds kind text not null
ledger.kinds space smallint not null
ledger.kinds id_bytes integer not null default 0
ledger.kinds id_prefix text not null default ''::text
ledger.kinds is_setting boolean not null default false
ledger.lost_history number bigint not null
ledger.lost_history seq bigint not null
ledger.lost_history leaf_hash bytea not null
ledger.lost_history reporter text not null
ledger.lost_history reported_at timestamp with time zone not null
ledger.notes id bytea not null
ledger.notes note bytea not null
ledger.notes recorded_at timestamp with time zone not null
ledger.notes is_keyed boolean not null
ledger.notes sent_at timestamp with time zone
ledger.quotes id text not null
ledger.quotes wallet text not null
ledger.quotes endpoint text not null
ledger.quotes memo text not null
ledger.quotes price_list integer not null
ledger.quotes mint text not null
ledger.quotes required numeric(20,0) not null
ledger.quotes issued_at timestamp with time zone not null
ledger.quotes expires_at timestamp with time zone not null
ledger.quotes slot bigint not null
ledger.sent_notes sent_at timestamp with time zone not null
ledger.sent_notes number bigint not null
ledger.sent_notes ids bytea[] not null
ledger.settings name text not null
ledger.settings number integer not null
ledger.settings seq bigint not null
ledger.settings valid_from timestamp with time zone not null
ledger.settings body bytea not null
ledger.steps step text not null
ledger.steps from_state text not null
ledger.steps event_kinds text[] not null
ledger.steps kind text not null
ledger.steps to_state text not null
ledger.steps lease text not null default 'none'::text
ledger.steps after_lease boolean not null default false
ledger.steps moves text[] not null default '{}'::text[]
ledger.steps writer text not null default 'service'::text
ledger.steps number_max integer
ledger.streams id bytea not null
ledger.streams stream bigint not null
ledger.streams kind text not null
ledger.streams state text not null
ledger.streams version integer not null
ledger.streams lease_until timestamp with time zone
ledger.streams seqs int8multirange not null
ledger.tallies account integer not null
ledger.tallies hour timestamp with time zone not null
ledger.tallies amount numeric(38,0) not null
ledger.tallies entries bigint not null
ledger.tiles level smallint not null
ledger.tiles index bigint not null
ledger.tiles hashes bytea not null
ledger.tiles root bytea not null
news.articles url_hash bytea not null
news.articles url text not null
news.articles title text not null
news.articles title_key text not null
news.articles publisher text not null
news.articles provider text not null
news.articles categories text[] not null
news.articles found_by text[] not null
news.articles published_at timestamp with time zone not null
news.articles fetched_at timestamp with time zone not null
news.articles words tsvector not null
news.articles description text
news.articles image_url text
news.articles language text
news.articles feed text not null
news.articles rank integer not null
news.articles story_words text[] not null
news.articles cluster uuid not null
news.articles leads boolean not null
news.polls name text not null
news.polls lane text not null
news.polls category text not null
news.polls due_at timestamp with time zone not null
news.polls taken_at timestamp with time zone
news.polls succeeded_at timestamp with time zone
news.polls failures integer not null default 0
news.polls etag text
news.polls last_modified text
paywall.transfer_scans token_account text not null
paywall.transfer_scans signature text not null
paywall.transfer_scans slot bigint not null
paywall.transfer_scans scanned_at timestamp with time zone not null
reports.daily_totals mint text not null
reports.daily_totals day date not null
reports.daily_totals kind text not null
reports.daily_totals endpoint text not null
reports.daily_totals account text not null
reports.daily_totals debits numeric(38,0) not null
reports.daily_totals credits numeric(38,0) not null
reports.daily_totals payments bigint not null
reports.daily_totals value_pico_usd numeric(38,0) not null
reports.day_prices mint text not null
reports.day_prices day date not null
reports.day_prices price_micro_usd numeric(38,0) not null
reports.day_prices required numeric(38,0) not null
reports.day_prices payments bigint not null
reports.late_entries seq bigint not null
reports.late_entries mint text not null
reports.late_entries day date not null
reports.late_entries kind text not null
reports.late_entries endpoint text not null
reports.late_entries account text not null
reports.late_entries debits numeric(38,0) not null
reports.late_entries credits numeric(38,0) not null
reports.late_entries value_pico_usd numeric(38,0) not null
reports.payment_totals mint text not null
reports.payment_totals wallet text not null
reports.payment_totals day date not null
reports.payment_totals endpoint text not null
reports.payment_totals payments bigint not null
reports.payment_totals received numeric(38,0) not null
reports.payment_totals burned numeric(38,0) not null
reports.payment_totals burn_owed numeric(38,0) not null
reports.payment_totals lost numeric(38,0) not null
reports.payment_totals unearned numeric(38,0) not null
reports.payment_totals owed numeric(38,0) not null
reports.payment_totals shares jsonb not null
reports.payment_totals prepaid numeric(38,0) not null default 0
reports.payments stream bigint not null
reports.payments reference text not null
reports.payments wallet text not null
reports.payments endpoint text not null
reports.payments mint text
reports.payments state text not null
reports.payments is_final boolean not null default false
reports.payments attempts integer not null default 0
reports.payments paid_at timestamp with time zone not null
reports.payments fulfilled_at timestamp with time zone
reports.payments finalized_at timestamp with time zone
reports.payments slot bigint
reports.payments price_micro_usd numeric(38,0)
reports.payments required numeric(38,0)
reports.payments received numeric(38,0) not null default 0
reports.payments burned numeric(38,0) not null default 0
reports.payments burn_owed numeric(38,0) not null default 0
reports.payments lost numeric(38,0) not null default 0
reports.payments unearned numeric(38,0) not null default 0
reports.payments owed numeric(38,0) not null default 0
reports.payments shares jsonb not null default '{}'::jsonb
reports.payments receipt bytea
reports.payments prepaid numeric(38,0) not null default 0
reports.payouts seq bigint not null
reports.payouts line integer not null
reports.payouts mint text not null
reports.payouts reference text not null
reports.payouts plan_id text not null
reports.payouts part integer not null
reports.payouts account text not null
reports.payouts wallet text not null
reports.payouts amount numeric(38,0) not null
reports.payouts paid_at timestamp with time zone not null
reports.progress one boolean not null default true
reports.progress upto_seq bigint not null
reports.refunds seq bigint not null
reports.refunds line integer not null
reports.refunds mint text not null
reports.refunds reference text not null
reports.refunds wallet text not null
reports.refunds kind text not null
reports.refunds account text not null
reports.refunds amount numeric(38,0) not null
reports.refunds decided_by text not null
reports.refunds role text not null
reports.refunds login text not null
reports.refunds reason text not null
reports.refunds decided_at timestamp with time zone not null
reports.wallet_totals mint text not null
reports.wallet_totals wallet text not null
reports.wallet_totals day date not null
reports.wallet_totals payments bigint not null
reports.wallet_totals received numeric(38,0) not null
reports.wallet_totals burned numeric(38,0) not null
reports.wallet_totals burn_owed numeric(38,0) not null
reports.wallet_totals lost numeric(38,0) not null
reports.wallet_totals shares jsonb not null
signer.days day date not null
signer.days lamports bigint not null
signer.signatures digest bytea not null
signer.signatures signature bytea not null
signer.signatures wallet text not null
signer.signatures amount numeric(20,0) not null
signer.signatures lamports bigint not null
signer.signatures day date not null
signer.signatures signed_at timestamp with time zone not null
signer.signatures outcome text
signer.signatures settled_at timestamp with time zone
signer.signatures dollar text
work.leases name text not null
work.leases holder text not null
work.leases epoch bigint not null
work.leases taken_at timestamp with time zone not null
work.leases length_ms integer not null
work.open queue text not null
work.open stream bigint not null
work.open id bytea not null
work.open due_at timestamp with time zone not null
work.payout_attempts plan_id text not null
work.payout_attempts part integer not null
work.payout_attempts signature text not null
work.payout_attempts last_valid_height bigint not null
work.payout_attempts transaction bytea not null
work.payout_attempts attempted_at timestamp with time zone not null default clock_timestamp()
work.presentations reference bytea not null
work.presentations wallet text not null
work.presentations presented_at timestamp with time zone not null
work.presentations last_valid_height bigint not null
work.presentations number bigint not null
work.presentations recorded_at timestamp with time zone not null default clock_timestamp()
work.progress one boolean not null default true
work.progress upto_seq bigint not null
work.rate_counts limit_name text not null
work.rate_counts client text not null
work.rate_counts time_window bigint not null
work.rate_counts requests bigint not null
work.rate_counts ends_at timestamp with time zone not null
work.rules kind text not null
work.rules state text not null
work.rules queue text not null
work.rules due text not null default 'created'::text

-- constraints
ledger.accounts accounts_name_is_unique_per_mint UNIQUE (mint, name)
ledger.accounts accounts_one_row_each PRIMARY KEY (id)
ledger.accounts accounts_stay_within_limits CHECK (((balance >= floor) AND (balance <= ceiling)))
ledger.checkpoints checkpoints_one_per_size PRIMARY KEY (size)
ledger.checkpoints checkpoints_root_is_sha256 CHECK ((octet_length(root) = 32))
ledger.checkpoints checkpoints_size_counts_events CHECK ((size > 0))
ledger.classes classes_one_row_each PRIMARY KEY (class)
ledger.classes classes_prefix_names_one_class UNIQUE (prefix)
ledger.code code_digest_is_sha256 CHECK ((octet_length(digest) = 32))
ledger.code code_one_row_each PRIMARY KEY (name)
ledger.events events_body_fits_a_tile_entry CHECK (((octet_length(body) >= 2) AND (octet_length(body) <= 65519)))
ledger.events events_leaf_is_sha256 CHECK ((octet_length(leaf_hash) = 32))
ledger.events events_position_counts_from_one CHECK ((seq > 0))
ledger.events events_position_is_unique PRIMARY KEY (seq)
ledger.events events_postings_have_both_sides CHECK (
CASE
    WHEN ((debits IS NULL) AND (credits IS NULL) AND (amounts IS NULL)) THEN true
    ELSE COALESCE(((cardinality(debits) = cardinality(amounts)) AND (cardinality(credits) = cardinality(amounts)) AND (array_position(debits, NULL::integer) IS NULL) AND (array_position(credits, NULL::integer) IS NULL) AND (array_position(amounts, NULL::numeric) IS NULL) AND ((0)::numeric < ALL (amounts))), false)
END)
ledger.events events_version_counts_from_one CHECK ((version > 0))
ledger.head head_is_one_row PRIMARY KEY (one)
ledger.head head_is_the_one CHECK (one)
ledger.keys keys_used_once PRIMARY KEY (space, key)
ledger.kinds kinds_one_row_each PRIMARY KEY (kind)
ledger.kinds kinds_space_is_a_byte CHECK (((space >= 0) AND (space <= 255)))
ledger.lost_history lost_history_is_of_an_event CHECK (((seq > 0) AND (octet_length(leaf_hash) = 32)))
ledger.lost_history lost_history_one_row_each PRIMARY KEY (number)
ledger.notes notes_one_row_per_stream PRIMARY KEY (id)
ledger.quotes quotes_are_found_by_wallet_and_endpoint PRIMARY KEY (wallet, endpoint, issued_at, id)
ledger.quotes quotes_ask_for_something CHECK ((required > (0)::numeric))
ledger.quotes quotes_expire CHECK ((expires_at > issued_at))
ledger.sent_notes sent_notes_one_row_each PRIMARY KEY (sent_at, number)
ledger.settings settings_count_from_one CHECK ((number > 0))
ledger.settings settings_one_row_per_number PRIMARY KEY (name, number)
ledger.steps steps_append_events CHECK ((cardinality(event_kinds) > 0))
ledger.steps steps_have_a_kind FOREIGN KEY (kind) REFERENCES ledger.kinds(kind)
ledger.steps steps_lead_to_a_state CHECK ((to_state <> ''::text))
ledger.steps steps_lease_is_known CHECK ((lease = ANY (ARRAY['none'::text, 'take'::text])))
ledger.steps steps_one_row_each PRIMARY KEY (step, from_state, event_kinds)
ledger.steps steps_writer_is_known CHECK ((writer = ANY (ARRAY['service'::text, 'payout'::text, 'burner'::text, 'operator'::text, 'finance'::text])))
ledger.streams streams_id_has_a_space CHECK (((octet_length(id) >= 2) AND (octet_length(id) <= 256)))
ledger.streams streams_id_used_once PRIMARY KEY (id)
ledger.streams streams_start_at_one_position UNIQUE (stream)
ledger.streams streams_version_counts_from_one CHECK ((version > 0))
ledger.tallies tallies_one_row_per_hour PRIMARY KEY (account, hour)
ledger.tiles tiles_are_full CHECK ((octet_length(hashes) = (256 * 32)))
ledger.tiles tiles_are_written_once PRIMARY KEY (level, index)
ledger.tiles tiles_count_from_zero CHECK ((index >= 0))
ledger.tiles tiles_level_is_of_a_countable_tree CHECK (((level >= 0) AND (level <= 6)))
ledger.tiles tiles_root_is_sha256 CHECK ((octet_length(root) = 32))
news.articles articles_hash_is_sha256 CHECK ((octet_length(url_hash) = 32))
news.articles articles_image_is_encrypted_web CHECK ((image_url ~ '^https://'::text))
news.articles articles_url_is_kept_once PRIMARY KEY (url_hash)
news.articles articles_url_is_web CHECK ((url ~ '^https?://'::text))
news.polls polls_failures_count_from_zero CHECK ((failures >= 0))
news.polls polls_name_is_unique PRIMARY KEY (name)
paywall.transfer_scans transfer_scans_one_per_token_account PRIMARY KEY (token_account)
reports.daily_totals daily_totals_one_row_each PRIMARY KEY (mint, day, kind, endpoint, account)
reports.day_prices day_prices_one_row_each PRIMARY KEY (mint, day)
reports.late_entries late_entries_one_row_each PRIMARY KEY (seq, mint, kind, endpoint, account, day)
reports.payment_totals payment_totals_one_row_each PRIMARY KEY (mint, wallet, day, endpoint)
reports.payments payments_one_row_each PRIMARY KEY (stream)
reports.payments payments_reference_is_unique UNIQUE (reference)
reports.payouts payouts_one_row_each PRIMARY KEY (seq, line)
reports.progress progress_is_one_row PRIMARY KEY (one)
reports.progress progress_is_the_one CHECK (one)
reports.refunds refunds_one_row_each PRIMARY KEY (seq, line)
reports.wallet_totals wallet_totals_one_row_each PRIMARY KEY (mint, wallet, day)
signer.days days_lamports_are_not_negative CHECK ((lamports >= 0))
signer.days days_one_row_each PRIMARY KEY (day)
signer.signatures signatures_amount_is_positive CHECK ((amount > (0)::numeric))
signer.signatures signatures_cost_lamports CHECK ((lamports > 0))
signer.signatures signatures_digest_is_sha256 CHECK ((octet_length(digest) = 32))
signer.signatures signatures_dollar_is_an_address CHECK (((length(dollar) >= 32) AND (length(dollar) <= 44)))
signer.signatures signatures_one_for_each_message PRIMARY KEY (digest)
signer.signatures signatures_outcome_is_known CHECK ((outcome = ANY (ARRAY['paid'::text, 'failed'::text, 'absent'::text])))
signer.signatures signatures_settled_with_an_outcome CHECK (((outcome IS NULL) = (settled_at IS NULL)))
signer.signatures signatures_signature_is_ed25519 CHECK ((octet_length(signature) = 64))
signer.signatures signatures_wallet_is_an_address CHECK (((length(wallet) >= 32) AND (length(wallet) <= 44)))
work.leases leases_have_a_length CHECK (((length_ms >= 0) AND (length_ms <= 600000)))
work.leases leases_one_row_each PRIMARY KEY (name)
work.open open_one_row_each PRIMARY KEY (queue, stream)
work.payout_attempts payout_attempts_count_parts CHECK ((part > 0))
work.payout_attempts payout_attempts_fit_a_transaction CHECK (((octet_length(transaction) >= 1) AND (octet_length(transaction) <= 1232)))
work.payout_attempts payout_attempts_height_is_positive CHECK ((last_valid_height > 0))
work.payout_attempts payout_attempts_one_for_each_part PRIMARY KEY (plan_id, part)
work.presentations presentations_height_is_positive CHECK ((last_valid_height > 0))
work.presentations presentations_one_row_each PRIMARY KEY (reference, wallet)
work.presentations presentations_reference_is_short CHECK (((octet_length(reference) >= 2) AND (octet_length(reference) <= 65)))
work.presentations presentations_wallet_is_an_address CHECK (((length(wallet) >= 32) AND (length(wallet) <= 44)))
work.progress progress_is_one_row PRIMARY KEY (one)
work.progress progress_is_the_one CHECK (one)
work.rate_counts rate_counts_one_row_each PRIMARY KEY (limit_name, client, time_window)
work.rules rules_due_is_known CHECK ((due = ANY (ARRAY['created'::text, 'lease'::text])))
work.rules rules_have_a_kind FOREIGN KEY (kind) REFERENCES ledger.kinds(kind)
work.rules rules_one_row_each PRIMARY KEY (kind, state, queue)

-- indexes
CREATE INDEX articles_by_category ON news.articles USING gin (categories)
CREATE INDEX articles_by_cluster ON news.articles USING btree (cluster)
CREATE INDEX articles_by_question ON news.articles USING gin (found_by)
CREATE INDEX articles_by_story ON news.articles USING gin (story_words) WHERE leads
CREATE INDEX articles_by_time ON news.articles USING btree (published_at DESC)
CREATE INDEX articles_by_title ON news.articles USING btree (title_key, published_at)
CREATE INDEX articles_by_words ON news.articles USING gin (words)
CREATE INDEX events_of_burns ON ONLY ledger.events USING btree (kind, seq) WHERE (kind = ANY (ARRAY['BurnOwed'::text, 'PaymentReversed'::text, 'BurnSubmitted'::text, 'BurnConfirmed'::text, 'BurnFailed'::text]))
CREATE INDEX events_of_captures ON ONLY ledger.events USING btree (seq) WHERE (kind = 'TabCaptured'::text)
CREATE INDEX events_of_payouts ON ONLY ledger.events USING btree (kind, seq) WHERE (kind = ANY (ARRAY['DistributionPaid'::text, 'HolderPayoutPlanned'::text, 'HolderPayoutEnded'::text]))
CREATE INDEX keys_by_end ON ledger.keys USING btree (until) WHERE (until IS NOT NULL)
CREATE INDEX late_entries_by_day ON reports.late_entries USING btree (mint, day, seq)
CREATE INDEX open_by_time ON work.open USING btree (queue, due_at, stream)
CREATE INDEX payments_by_endpoint ON reports.payments USING btree (endpoint, paid_at, stream)
CREATE INDEX payments_by_receipt ON reports.payments USING btree (receipt) WHERE (receipt IS NOT NULL)
CREATE INDEX payments_by_time ON reports.payments USING btree (paid_at, stream)
CREATE INDEX payments_by_wallet ON reports.payments USING btree (wallet, paid_at, stream)
CREATE INDEX payments_owed ON reports.payments USING btree (paid_at, stream) WHERE (owed > (0)::numeric)
CREATE INDEX payments_owed_by_wallet ON reports.payments USING btree (wallet, paid_at, stream) WHERE (owed > (0)::numeric)
CREATE INDEX payments_unsettled ON reports.payments USING btree (state, paid_at, stream) WHERE (state <> 'fulfilled'::text)
CREATE INDEX payments_unsettled_by_endpoint ON reports.payments USING btree (endpoint, state, paid_at, stream) WHERE (state <> 'fulfilled'::text)
CREATE INDEX payments_unsettled_by_wallet ON reports.payments USING btree (wallet, state, paid_at, stream) WHERE (state <> 'fulfilled'::text)
CREATE INDEX payouts_by_account ON reports.payouts USING btree (account, seq, line)
CREATE INDEX payouts_by_wallet ON reports.payouts USING btree (wallet, seq, line)
CREATE INDEX quotes_by_price ON ONLY ledger.quotes USING btree (wallet, endpoint, required, issued_at DESC)
CREATE INDEX rate_counts_by_end ON work.rate_counts USING btree (ends_at)
CREATE INDEX refunds_by_account ON reports.refunds USING btree (account, seq, line)
CREATE INDEX refunds_by_reference ON reports.refunds USING btree (reference, seq, line)
CREATE INDEX signatures_by_age ON signer.signatures USING btree (signed_at)
CREATE INDEX signatures_by_wallet ON signer.signatures USING btree (wallet, signed_at)
CREATE INDEX signatures_unpaid ON signer.signatures USING btree (signed_at) WHERE (outcome IS DISTINCT FROM 'paid'::text)
CREATE UNIQUE INDEX accounts_name_is_unique_per_mint ON ledger.accounts USING btree (mint, name)
CREATE UNIQUE INDEX accounts_one_row_each ON ledger.accounts USING btree (id)
CREATE UNIQUE INDEX articles_url_is_kept_once ON news.articles USING btree (url_hash)
CREATE UNIQUE INDEX checkpoints_one_per_size ON ledger.checkpoints USING btree (size)
CREATE UNIQUE INDEX classes_one_row_each ON ledger.classes USING btree (class)
CREATE UNIQUE INDEX classes_prefix_names_one_class ON ledger.classes USING btree (prefix)
CREATE UNIQUE INDEX code_one_row_each ON ledger.code USING btree (name)
CREATE UNIQUE INDEX daily_totals_one_row_each ON reports.daily_totals USING btree (mint, day, kind, endpoint, account)
CREATE UNIQUE INDEX day_prices_one_row_each ON reports.day_prices USING btree (mint, day)
CREATE UNIQUE INDEX days_one_row_each ON signer.days USING btree (day)
CREATE UNIQUE INDEX events_position_is_unique ON ONLY ledger.events USING btree (seq)
CREATE UNIQUE INDEX head_is_one_row ON ledger.head USING btree (one)
CREATE UNIQUE INDEX keys_used_once ON ledger.keys USING btree (space, key)
CREATE UNIQUE INDEX kinds_one_row_each ON ledger.kinds USING btree (kind)
CREATE UNIQUE INDEX late_entries_one_row_each ON reports.late_entries USING btree (seq, mint, kind, endpoint, account, day)
CREATE UNIQUE INDEX leases_one_row_each ON work.leases USING btree (name)
CREATE UNIQUE INDEX lost_history_one_row_each ON ledger.lost_history USING btree (number)
CREATE UNIQUE INDEX notes_one_row_per_stream ON ledger.notes USING btree (id)
CREATE UNIQUE INDEX open_one_row_each ON work.open USING btree (queue, stream)
CREATE UNIQUE INDEX payment_totals_one_row_each ON reports.payment_totals USING btree (mint, wallet, day, endpoint)
CREATE UNIQUE INDEX payments_one_row_each ON reports.payments USING btree (stream)
CREATE UNIQUE INDEX payments_reference_is_unique ON reports.payments USING btree (reference)
CREATE UNIQUE INDEX payout_attempts_one_for_each_part ON work.payout_attempts USING btree (plan_id, part)
CREATE UNIQUE INDEX payouts_one_row_each ON reports.payouts USING btree (seq, line)
CREATE UNIQUE INDEX polls_name_is_unique ON news.polls USING btree (name)
CREATE UNIQUE INDEX presentations_by_number ON work.presentations USING btree (number)
CREATE UNIQUE INDEX presentations_one_row_each ON work.presentations USING btree (reference, wallet)
CREATE UNIQUE INDEX progress_is_one_row ON reports.progress USING btree (one)
CREATE UNIQUE INDEX progress_is_one_row ON work.progress USING btree (one)
CREATE UNIQUE INDEX quotes_are_found_by_wallet_and_endpoint ON ONLY ledger.quotes USING btree (wallet, endpoint, issued_at, id)
CREATE UNIQUE INDEX rate_counts_one_row_each ON work.rate_counts USING btree (limit_name, client, time_window)
CREATE UNIQUE INDEX refunds_one_row_each ON reports.refunds USING btree (seq, line)
CREATE UNIQUE INDEX rules_one_row_each ON work.rules USING btree (kind, state, queue)
CREATE UNIQUE INDEX sent_notes_one_row_each ON ledger.sent_notes USING btree (sent_at, number)
CREATE UNIQUE INDEX settings_one_row_per_number ON ledger.settings USING btree (name, number)
CREATE UNIQUE INDEX signatures_one_for_each_message ON signer.signatures USING btree (digest)
CREATE UNIQUE INDEX steps_one_row_each ON ledger.steps USING btree (step, from_state, event_kinds)
CREATE UNIQUE INDEX streams_id_used_once ON ledger.streams USING btree (id)
CREATE UNIQUE INDEX streams_start_at_one_position ON ledger.streams USING btree (stream)
CREATE UNIQUE INDEX tallies_one_row_per_hour ON ledger.tallies USING btree (account, hour)
CREATE UNIQUE INDEX tiles_are_written_once ON ledger.tiles USING btree (level, index)
CREATE UNIQUE INDEX transfer_scans_one_per_token_account ON paywall.transfer_scans USING btree (token_account)
CREATE UNIQUE INDEX wallet_totals_one_row_each ON reports.wallet_totals USING btree (mint, wallet, day)

-- triggers (A: always, also for a superuser who replays a replica)
A CREATE TRIGGER projection_follows_the_log BEFORE INSERT OR UPDATE ON ledger.accounts FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_direct_write()
A CREATE TRIGGER projection_is_never_emptied BEFORE TRUNCATE ON ledger.accounts FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change()
A CREATE TRIGGER projection_never_shrinks BEFORE DELETE ON ledger.accounts FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change()
A CREATE TRIGGER log_is_never_emptied BEFORE TRUNCATE ON ledger.checkpoints FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change()
A CREATE TRIGGER log_is_written_by_functions BEFORE INSERT ON ledger.checkpoints FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_direct_write()
A CREATE TRIGGER log_never_changes BEFORE DELETE OR UPDATE ON ledger.checkpoints FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change()
A CREATE TRIGGER log_is_never_emptied BEFORE TRUNCATE ON ledger.events FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change()
A CREATE TRIGGER log_is_written_by_functions BEFORE INSERT ON ledger.events FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_direct_write()
A CREATE TRIGGER log_never_changes BEFORE DELETE OR UPDATE ON ledger.events FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change()
A CREATE TRIGGER projection_follows_the_log BEFORE INSERT OR UPDATE ON ledger.head FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_direct_write()
A CREATE TRIGGER projection_is_never_emptied BEFORE TRUNCATE ON ledger.head FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change()
A CREATE TRIGGER projection_never_shrinks BEFORE DELETE ON ledger.head FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change()
A CREATE TRIGGER kept_by_functions BEFORE INSERT OR DELETE OR UPDATE ON ledger.keys FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_direct_write()
A CREATE TRIGGER kept_is_never_emptied BEFORE TRUNCATE ON ledger.keys FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change()
A CREATE TRIGGER log_is_never_emptied BEFORE TRUNCATE ON ledger.lost_history FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change()
A CREATE TRIGGER log_is_written_by_functions BEFORE INSERT ON ledger.lost_history FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_direct_write()
A CREATE TRIGGER log_never_changes BEFORE DELETE OR UPDATE ON ledger.lost_history FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change()
A CREATE TRIGGER kept_by_functions BEFORE INSERT OR DELETE OR UPDATE ON ledger.notes FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_direct_write()
A CREATE TRIGGER kept_is_never_emptied BEFORE TRUNCATE ON ledger.notes FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change()
A CREATE TRIGGER log_is_never_emptied BEFORE TRUNCATE ON ledger.quotes FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change()
A CREATE TRIGGER log_is_written_by_functions BEFORE INSERT ON ledger.quotes FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_direct_write()
A CREATE TRIGGER log_never_changes BEFORE DELETE OR UPDATE ON ledger.quotes FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change()
A CREATE TRIGGER kept_by_functions BEFORE INSERT OR DELETE OR UPDATE ON ledger.sent_notes FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_direct_write()
A CREATE TRIGGER kept_is_never_emptied BEFORE TRUNCATE ON ledger.sent_notes FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change()
A CREATE TRIGGER log_is_never_emptied BEFORE TRUNCATE ON ledger.settings FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change()
A CREATE TRIGGER log_is_written_by_functions BEFORE INSERT ON ledger.settings FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_direct_write()
A CREATE TRIGGER log_never_changes BEFORE DELETE OR UPDATE ON ledger.settings FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change()
A CREATE TRIGGER projection_follows_the_log BEFORE INSERT OR UPDATE ON ledger.streams FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_direct_write()
A CREATE TRIGGER projection_is_never_emptied BEFORE TRUNCATE ON ledger.streams FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change()
A CREATE TRIGGER projection_never_shrinks BEFORE DELETE ON ledger.streams FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change()
A CREATE TRIGGER projection_follows_the_log BEFORE INSERT OR UPDATE ON ledger.tallies FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_direct_write()
A CREATE TRIGGER projection_is_never_emptied BEFORE TRUNCATE ON ledger.tallies FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change()
A CREATE TRIGGER projection_never_shrinks BEFORE DELETE ON ledger.tallies FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change()
A CREATE TRIGGER log_is_never_emptied BEFORE TRUNCATE ON ledger.tiles FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change()
A CREATE TRIGGER log_is_written_by_functions BEFORE INSERT ON ledger.tiles FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_direct_write()
A CREATE TRIGGER log_never_changes BEFORE DELETE OR UPDATE ON ledger.tiles FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change()

-- functions (their text is in packages/ledger/sql and migrations/functions)
ledger.add_partition(parent regclass, name text, bounds text[]) returns void 
ledger.add_partitions() returns void security definer search_path=pg_catalog, pg_temp
ledger.append_as(writer text, batch ledger.batch, bodies bytea, note_values bytea[], OUT recorded_at timestamp with time zone, OUT first_position bigint, OUT refusals text[], OUT leaf_hashes bytea) returns record security definer search_path=pg_catalog, pg_temp enable_seqscan=off jit=off plan_cache_mode=force_generic_plan
ledger.append_batch(ids bytea[], steps text[], expected integer[], leases_ms integer[], event_counts integer[], first_events integer[], event_items integer[], event_kinds text[], event_schemas smallint[], event_times_ms bigint[], event_starts integer[], event_lengths integer[], posting_starts integer[], posting_counts integer[], account_mints text[], account_names text[], posting_items integer[], posting_events integer[], debits integer[], credits integer[], amounts numeric[], guard_items integer[], guard_ids bytea[], guard_versions integer[], key_items integer[], key_spaces smallint[], key_values bytea[], key_digests bytea[], key_lives_s integer[], note_items integer[], note_values bytea[], bodies bytea, known_seq bigint, known_leaf bytea, known_timeline integer, OUT recorded_at timestamp with time zone, OUT first_position bigint, OUT refusals text[], OUT leaf_hashes bytea) returns record security definer search_path=pg_catalog, pg_temp
ledger.append_one(writer text, step text, id bytea, expected integer, body bytea, mint text, debits text[], credits text[], amounts numeric[], guard_id bytea, key_space smallint, key_value bytea, OUT refusal text, OUT seq bigint, OUT leaf_hash bytea, OUT recorded_at timestamp with time zone) returns record search_path=pg_catalog, pg_temp
ledger.base58_bytes(written text) returns bytea search_path=pg_catalog, pg_temp
ledger.change_setting(body bytea) returns TABLE(refusal text, seq bigint, leaf_hash bytea, recorded_at timestamp with time zone) security definer search_path=pg_catalog, pg_temp
ledger.drop_old_quotes(retention_days integer) returns SETOF text security definer search_path=pg_catalog, pg_temp lock_timeout=500ms
ledger.end_notes(ids bytea[]) returns bigint security definer search_path=pg_catalog, pg_temp enable_seqscan=off
ledger.find_bound_quote(paying_wallet text, paid_endpoint text, wanted_memo text, landed_at timestamp with time zone, landed_slot bigint, grace interval) returns SETOF ledger.quotes search_path=pg_catalog, pg_temp plan_cache_mode=force_custom_plan
ledger.find_open_quote(paying_wallet text, paid_endpoint text, landed_at timestamp with time zone, landed_slot bigint, grace interval) returns SETOF ledger.quotes search_path=pg_catalog, pg_temp plan_cache_mode=force_custom_plan
ledger.forget_notes_beyond(notes_max bigint, bytes_max bigint) returns bigint search_path=pg_catalog, pg_temp
ledger.forget_old_notes() returns bigint security definer search_path=pg_catalog, pg_temp
ledger.has_event(wanted_seq bigint, wanted_leaf bytea) returns boolean search_path=pg_catalog, pg_temp enable_seqscan=off jit=off plan_cache_mode=force_custom_plan
ledger.identify(known_seq bigint, OUT system_identifier text, OUT timeline integer, OUT head_seq bigint, OUT head_leaf bytea, OUT known_leaf bytea, OUT lost_number bigint, OUT lost_seq bigint, OUT lost_leaf bytea) returns record security definer search_path=pg_catalog, pg_temp enable_seqscan=off jit=off plan_cache_mode=force_custom_plan
ledger.judge(writer text, batch ledger.batch, chart ledger.batch_accounts, stamp timestamp with time zone) returns ledger.judgement search_path=pg_catalog, pg_temp
ledger.judge_repeated(ids bytea[], verdicts text[]) returns text[] search_path=pg_catalog, pg_temp
ledger.judge_seldom(batch ledger.batch, judged ledger.judgement, stamp timestamp with time zone) returns text[] search_path=pg_catalog, pg_temp
ledger.mark_notes(ids bytea[], repeat_seconds integer) returns bigint security definer search_path=pg_catalog, pg_temp enable_seqscan=off
ledger.needed_quotes() returns SETOF text search_path=pg_catalog, pg_temp
ledger.next_time(ledger_time timestamp with time zone, clock_before timestamp with time zone, OUT next_time timestamp with time zone, OUT clock timestamp with time zone) returns record search_path=pg_catalog, pg_temp
ledger.open_accounts(account_mints text[], account_names text[]) returns ledger.batch_accounts search_path=pg_catalog, pg_temp
ledger.post(batch ledger.batch, chart ledger.batch_accounts, verdicts text[], first_position bigint) returns text[] search_path=pg_catalog, pg_temp
ledger.probe_commit() returns void security definer search_path=pg_catalog, pg_temp lock_timeout=2s
ledger.protect_kept(protected regclass) returns void 
ledger.protect_log(protected regclass) returns void 
ledger.protect_projection(protected regclass) returns void 
ledger.quote_days() returns TABLE(day date, partition regclass) search_path=pg_catalog, pg_temp
ledger.quote_storage() returns TABLE(bytes bigint, oldest_days integer) security definer search_path=pg_catalog, pg_temp
ledger.read(stream_id bytea) returns TABLE(seq bigint, version integer, kind text, schema_version smallint, recorded_at timestamp with time zone, effective_at timestamp with time zone, body bytea, leaf_hash bytea) search_path=pg_catalog, pg_temp enable_seqscan=off jit=off plan_cache_mode=force_generic_plan
ledger.read_many(stream_ids bytea[]) returns TABLE(id bytea, seq bigint, version integer, kind text, schema_version smallint, recorded_at timestamp with time zone, effective_at timestamp with time zone, body bytea, leaf_hash bytea) search_path=pg_catalog, pg_temp enable_seqscan=off jit=off plan_cache_mode=force_generic_plan
ledger.record(batch ledger.batch, bodies bytea, note_values bytea[], judged ledger.judgement, account_ids integer[], first_position bigint, stamp timestamp with time zone, clock timestamp with time zone) returns bytea search_path=pg_catalog, pg_temp
ledger.record_booking(payment_body bytea, approval_body bytea) returns TABLE(refusal text, seq bigint, leaf_hash bytea, recorded_at timestamp with time zone) security definer search_path=pg_catalog, pg_temp
ledger.record_burn(body bytea) returns TABLE(refusal text, seq bigint, leaf_hash bytea, recorded_at timestamp with time zone) security definer search_path=pg_catalog, pg_temp
ledger.record_holder_payout(body bytea, judged text[]) returns TABLE(refusal text, seq bigint, leaf_hash bytea, recorded_at timestamp with time zone) security definer search_path=pg_catalog, pg_temp
ledger.record_payout(body bytea) returns TABLE(refusal text, seq bigint, leaf_hash bytea, recorded_at timestamp with time zone) security definer search_path=pg_catalog, pg_temp
ledger.record_quotes(ids text[], wallets text[], endpoints text[], memos text[], price_lists integer[], mints text[], required numeric[], issued_ms bigint[], expires_ms bigint[], slots bigint[]) returns void security definer search_path=pg_catalog, pg_temp
ledger.record_refund(body bytea) returns TABLE(refusal text, seq bigint, leaf_hash bytea, recorded_at timestamp with time zone) security definer search_path=pg_catalog, pg_temp
ledger.refuse_change() returns trigger 
ledger.refuse_direct_write() returns trigger 
ledger.report_lost_history(lost_seq bigint, lost_leaf bytea, reporter text) returns void security definer search_path=pg_catalog, pg_temp
ledger.require_history(known_seq bigint, known_leaf bytea, known_timeline integer) returns boolean search_path=pg_catalog, pg_temp enable_seqscan=off jit=off plan_cache_mode=force_generic_plan
ledger.seal(lease_name text, lease_epoch bigint, tree_size bigint, tree_root bytea, signed_note text, tile_levels smallint[], tile_indexes bigint[], tile_hashes bytea[], tile_roots bytea[]) returns void security definer search_path=pg_catalog, pg_temp enable_seqscan=off jit=off
ledger.setting_at(wanted text, at timestamp with time zone) returns SETOF ledger.settings search_path=pg_catalog, pg_temp
ledger.try_limits(batch ledger.batch, chart ledger.batch_accounts, verdicts text[]) returns text[] search_path=pg_catalog, pg_temp
news.choose_lead(of_cluster uuid) returns void search_path=pg_catalog, pg_temp
news.find_cluster(wanted_key text, wanted_words text[], wanted_at timestamp with time zone, is_sample boolean, but_not bytea) returns uuid search_path=pg_catalog, pg_temp
news.forget_old() returns bigint security definer search_path=pg_catalog, pg_temp
news.keep_stories(url_keys text[], urls text[], titles text[], title_keys text[], story_keys text[], publishers text[], descriptions text[], image_urls text[], languages text[], ranks integer[], published_ms bigint[], provider text, feed text, category text, question text) returns integer security definer search_path=pg_catalog, pg_temp
news.poll_failed(polled text) returns void security definer search_path=pg_catalog, pg_temp
news.poll_succeeded(polled text, next_ms integer, new_etag text, new_last_modified text) returns void security definer search_path=pg_catalog, pg_temp
news.take_poll(names text[], lanes text[], wanted_categories text[], spacings_ms integer[], lease_ms integer) returns TABLE(poll text, poll_etag text, poll_last_modified text) security definer search_path=pg_catalog, pg_temp
news.trust(provider text) returns integer search_path=pg_catalog, pg_temp
paywall.move_transfer_scan(lease_name text, lease_epoch bigint, token_account text, signature text, slot bigint) returns void security definer search_path=pg_catalog, pg_temp
reports.add_events(from_seq bigint, to_seq bigint) returns void search_path=pg_catalog, pg_temp
reports.list_payouts(from_seq bigint, to_seq bigint) returns void search_path=pg_catalog, pg_temp
reports.list_refunds(from_seq bigint, to_seq bigint) returns void search_path=pg_catalog, pg_temp
reports.month_closed_at(effective_at timestamp with time zone) returns timestamp with time zone search_path=pg_catalog, pg_temp
reports.reset() returns void search_path=pg_catalog, pg_temp
reports.roll_up(events_max integer) returns bigint security definer search_path=pg_catalog, pg_temp plan_cache_mode=force_custom_plan enable_seqscan=off enable_nestloop=off enable_mergejoin=off jit=off
reports.roll_up_in_turn(events_max integer) returns bigint security definer search_path=pg_catalog, pg_temp
signer.find_signature(given_digest bytea, given_wallet text) returns TABLE(signature bytea, as_of timestamp with time zone) security definer search_path=pg_catalog, pg_temp
signer.landing_time() returns interval search_path=pg_catalog, pg_temp
signer.record_outcome(given_digest bytea, given_outcome text) returns void security definer search_path=pg_catalog, pg_temp
signer.record_signature(given_digest bytea, given_signature bytea, given_wallet text, given_amount numeric, given_lamports bigint, held numeric, as_of timestamp with time zone, lamports_per_day bigint, lamports_per_wallet bigint, given_dollar text) returns text security definer search_path=pg_catalog, pg_temp
signer.settle(of_wallet text) returns void search_path=pg_catalog, pg_temp
signer.spent_today() returns bigint security definer search_path=pg_catalog, pg_temp
work.end_lease(lease_name text, lease_epoch bigint) returns void security definer search_path=pg_catalog, pg_temp
work.follow(events_max integer) returns bigint security definer search_path=pg_catalog, pg_temp enable_seqscan=off jit=off plan_cache_mode=force_custom_plan
work.forget_old_presentations() returns bigint security definer search_path=pg_catalog, pg_temp
work.is_behind() returns boolean search_path=pg_catalog, pg_temp
work.record_payout_attempt(plan_id text, part integer, signature text, last_valid_height bigint, transaction bytea, replaced text) returns boolean security definer search_path=pg_catalog, pg_temp
work.record_presentation(given_reference bytea, given_wallet text, given_presented_at timestamp with time zone, given_last_valid_height bigint) returns TABLE(presented_at timestamp with time zone, last_valid_height bigint) security definer search_path=pg_catalog, pg_temp
work.renew_lease(lease_name text, lease_epoch bigint) returns boolean security definer search_path=pg_catalog, pg_temp
work.require_lease(lease_name text, lease_epoch bigint) returns void security definer search_path=pg_catalog, pg_temp
work.share_rates(limit_names text[], clients text[], time_windows bigint[], more bigint[], ends_ms bigint[]) returns TABLE(limit_name text, client text, time_window bigint, requests bigint) security definer search_path=pg_catalog, pg_temp
work.take_lease(lease_name text, wanted_by text, for_ms integer) returns bigint security definer search_path=pg_catalog, pg_temp

-- rights on tables of others than the owner
ledger.accounts tollbook_burner SELECT
ledger.accounts tollbook_operator SELECT
ledger.accounts tollbook_payout SELECT
ledger.accounts tollbook_reader SELECT
ledger.accounts tollbook_service SELECT
ledger.checkpoints tollbook_reader SELECT
ledger.checkpoints tollbook_service SELECT
ledger.classes tollbook_reader SELECT
ledger.classes tollbook_service SELECT
ledger.code tollbook_burner SELECT
ledger.code tollbook_operator SELECT
ledger.code tollbook_payout SELECT
ledger.code tollbook_reader SELECT
ledger.code tollbook_service SELECT
ledger.code tollbook_signer SELECT
ledger.events tollbook_burner SELECT
ledger.events tollbook_operator SELECT
ledger.events tollbook_payout SELECT
ledger.events tollbook_reader SELECT
ledger.events tollbook_service SELECT
ledger.head tollbook_burner SELECT
ledger.head tollbook_operator SELECT
ledger.head tollbook_payout SELECT
ledger.head tollbook_reader SELECT
ledger.head tollbook_service SELECT
ledger.keys tollbook_reader SELECT
ledger.keys tollbook_service SELECT
ledger.kinds tollbook_reader SELECT
ledger.kinds tollbook_service SELECT
ledger.lost_history tollbook_reader SELECT
ledger.lost_history tollbook_service SELECT
ledger.notes tollbook_service SELECT
ledger.quotes tollbook_reader SELECT
ledger.quotes tollbook_service SELECT
ledger.settings tollbook_burner SELECT
ledger.settings tollbook_operator SELECT
ledger.settings tollbook_payout SELECT
ledger.settings tollbook_reader SELECT
ledger.settings tollbook_service SELECT
ledger.steps tollbook_reader SELECT
ledger.steps tollbook_service SELECT
ledger.streams tollbook_burner SELECT
ledger.streams tollbook_operator SELECT
ledger.streams tollbook_payout SELECT
ledger.streams tollbook_reader SELECT
ledger.streams tollbook_service SELECT
ledger.tallies tollbook_reader SELECT
ledger.tallies tollbook_service SELECT
ledger.tiles tollbook_reader SELECT
ledger.tiles tollbook_service SELECT
news.articles tollbook_service SELECT
news.polls tollbook_service SELECT
paywall.transfer_scans tollbook_service SELECT
reports.daily_totals tollbook_reader SELECT
reports.daily_totals tollbook_service SELECT
reports.day_prices tollbook_reader SELECT
reports.day_prices tollbook_service SELECT
reports.late_entries tollbook_reader SELECT
reports.late_entries tollbook_service SELECT
reports.payment_totals tollbook_reader SELECT
reports.payment_totals tollbook_service SELECT
reports.payments tollbook_reader SELECT
reports.payments tollbook_service SELECT
reports.payouts tollbook_reader SELECT
reports.payouts tollbook_service SELECT
reports.progress tollbook_reader SELECT
reports.progress tollbook_service SELECT
reports.refunds tollbook_reader SELECT
reports.refunds tollbook_service SELECT
reports.wallet_totals tollbook_reader SELECT
reports.wallet_totals tollbook_service SELECT
work.leases tollbook_service SELECT
work.open tollbook_burner SELECT
work.open tollbook_payout SELECT
work.open tollbook_reader SELECT
work.open tollbook_service SELECT
work.payout_attempts tollbook_payout SELECT
work.presentations tollbook_reader SELECT
work.presentations tollbook_service SELECT
work.progress tollbook_burner SELECT
work.progress tollbook_payout SELECT
work.progress tollbook_reader SELECT
work.progress tollbook_service SELECT
work.rate_counts tollbook_service SELECT
work.rules tollbook_service SELECT

-- rights to execute of others than the owner
ledger.add_partitions tollbook_service
ledger.append_batch tollbook_service
ledger.change_setting tollbook_operator
ledger.drop_old_quotes tollbook_retention
ledger.end_notes tollbook_service
ledger.find_bound_quote tollbook_service
ledger.find_open_quote tollbook_service
ledger.forget_old_notes tollbook_service
ledger.identify tollbook_service
ledger.mark_notes tollbook_service
ledger.probe_commit tollbook_service
ledger.quote_storage tollbook_service
ledger.read tollbook_reader
ledger.read tollbook_service
ledger.read_many tollbook_reader
ledger.read_many tollbook_service
ledger.record_booking tollbook_finance
ledger.record_burn tollbook_burner
ledger.record_holder_payout tollbook_payout
ledger.record_payout tollbook_payout
ledger.record_quotes tollbook_service
ledger.record_refund tollbook_finance
ledger.report_lost_history tollbook_service
ledger.seal tollbook_service
ledger.setting_at tollbook_reader
ledger.setting_at tollbook_service
news.forget_old tollbook_service
news.keep_stories tollbook_service
news.poll_failed tollbook_service
news.poll_succeeded tollbook_service
news.take_poll tollbook_service
news.trust tollbook_service
paywall.move_transfer_scan tollbook_service
reports.month_closed_at tollbook_reader
reports.month_closed_at tollbook_service
reports.roll_up tollbook_finance
reports.roll_up tollbook_service
reports.roll_up_in_turn tollbook_finance
reports.roll_up_in_turn tollbook_service
signer.find_signature tollbook_signer
signer.record_outcome tollbook_signer
signer.record_signature tollbook_signer
signer.spent_today tollbook_signer
work.end_lease tollbook_service
work.follow tollbook_service
work.forget_old_presentations tollbook_service
work.record_payout_attempt tollbook_payout
work.record_presentation tollbook_service
work.renew_lease tollbook_service
work.share_rates tollbook_service
work.take_lease tollbook_service
