-- columns
ledger.balances mint text not null
ledger.balances account text not null
ledger.balances balance numeric(38,0) not null
ledger.balances entries bigint not null
ledger.balances upto_seq bigint not null
ledger.burn_totals mint text not null
ledger.burn_totals span text not null
ledger.burn_totals starts_at timestamp with time zone not null
ledger.burn_totals endpoint text not null
ledger.burn_totals burned numeric(38,0) not null
ledger.burn_totals payments bigint not null
ledger.checkpoints size bigint not null
ledger.checkpoints root bytea not null
ledger.checkpoints note text not null
ledger.checkpoints sealed_at timestamp with time zone not null
ledger.entries seq bigint not null
ledger.entries line smallint not null
ledger.entries account text not null
ledger.entries mint text not null
ledger.entries amount numeric(20,0) not null
ledger.events seq bigint not null
ledger.events stream text not null
ledger.events version integer not null
ledger.events kind text not null
ledger.events schema_version smallint not null
ledger.events recorded_at timestamp with time zone not null
ledger.events effective_at timestamp with time zone not null
ledger.events body bytea not null
ledger.events leaf_hash bytea not null
ledger.exposure one boolean not null default true
ledger.exposure amount numeric(38,0) not null
ledger.head one boolean not null default true
ledger.head seq bigint not null
ledger.head recorded_at timestamp with time zone not null
ledger.payments signature bytea not null
ledger.payments version integer not null
ledger.payments state text not null
ledger.payments wallet text not null
ledger.payments endpoint text not null
ledger.payments attempt integer not null
ledger.payments lease_until timestamp with time zone
ledger.payments quote_id text
ledger.payments seqs bigint[] not null
ledger.payments created_at timestamp with time zone not null
ledger.payments updated_at timestamp with time zone not null
ledger.payments awaiting_finality boolean not null default false
ledger.payments exposed numeric(20,0) not null default 0
ledger.payouts signature text not null
ledger.payouts plan_id text not null
ledger.payouts part integer not null
ledger.payouts seq bigint not null
ledger.payouts leaf_hash bytea not null
ledger.payouts recorded_at timestamp with time zone not null
ledger.price_lists version integer not null
ledger.price_lists seq bigint not null
ledger.price_lists effective_at timestamp with time zone not null
ledger.price_lists body bytea not null
ledger.quotes id text not null
ledger.quotes wallet text not null
ledger.quotes endpoint text not null
ledger.quotes memo text not null
ledger.quotes price_micro_usd bigint not null
ledger.quotes token_price_atto_usd numeric(38,0) not null
ledger.quotes mint text not null
ledger.quotes decimals smallint not null
ledger.quotes required numeric(20,0) not null
ledger.quotes burn numeric(20,0) not null
ledger.quotes provider numeric(20,0) not null
ledger.quotes holders numeric(20,0) not null
ledger.quotes treasury numeric(20,0) not null
ledger.quotes issued_at timestamp with time zone not null
ledger.quotes expires_at timestamp with time zone not null
ledger.quotes slot bigint not null
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
news.polls name text not null
news.polls lane text not null
news.polls category text not null
news.polls due_at timestamp with time zone not null
news.polls taken_at timestamp with time zone
news.polls succeeded_at timestamp with time zone
news.polls failures integer not null default 0
news.polls etag text
news.polls last_modified text
paywall.idempotent_answers wallet text not null
paywall.idempotent_answers key text not null
paywall.idempotent_answers signature bytea not null
paywall.idempotent_answers order_digest text not null
paywall.idempotent_answers recorded_at timestamp with time zone not null
paywall.idempotent_answers answer text
paywall.idempotent_answers fulfilled_seq bigint
paywall.idempotent_answers fulfilled_leaf bytea
paywall.idempotent_answers fulfilled_at timestamp with time zone
paywall.transfer_scans token_account text not null
paywall.transfer_scans signature text not null
paywall.transfer_scans slot bigint not null
paywall.transfer_scans scanned_at timestamp with time zone not null
reports.daily_totals mint text not null
reports.daily_totals day date not null
reports.daily_totals endpoint text not null
reports.daily_totals account text not null
reports.daily_totals debits numeric(38,0) not null
reports.daily_totals credits numeric(38,0) not null
reports.daily_totals debit_entries bigint not null
reports.daily_totals credit_entries bigint not null
reports.payment_totals mint text not null
reports.payment_totals wallet text not null
reports.payment_totals day date not null
reports.payment_totals endpoint text not null
reports.payment_totals payments bigint not null
reports.payment_totals received numeric(38,0) not null
reports.payment_totals burned numeric(38,0) not null
reports.payment_totals lost numeric(38,0) not null
reports.payment_totals unearned numeric(38,0) not null
reports.payment_totals provider numeric(38,0) not null
reports.payment_totals holders numeric(38,0) not null
reports.payment_totals treasury numeric(38,0) not null
reports.payment_totals owed numeric(38,0) not null
reports.payments signature text not null
reports.payments seq bigint not null
reports.payments wallet text not null
reports.payments endpoint text not null
reports.payments mint text
reports.payments state text not null
reports.payments attempts integer not null default 0
reports.payments paid_at timestamp with time zone not null
reports.payments fulfilled_at timestamp with time zone
reports.payments finalized_at timestamp with time zone
reports.payments slot bigint
reports.payments price_micro_usd bigint
reports.payments required numeric(20,0)
reports.payments received numeric(38,0) not null default 0
reports.payments burned numeric(38,0) not null default 0
reports.payments unearned numeric(38,0) not null default 0
reports.payments provider numeric(38,0) not null default 0
reports.payments holders numeric(38,0) not null default 0
reports.payments treasury numeric(38,0) not null default 0
reports.payments owed numeric(38,0) not null default 0
reports.payments lost numeric(38,0) not null default 0
reports.payouts seq bigint not null
reports.payouts line integer not null
reports.payouts mint text not null
reports.payouts signature text not null
reports.payouts plan_id text not null
reports.payouts part integer not null
reports.payouts account text not null
reports.payouts wallet text not null
reports.payouts amount numeric(38,0) not null
reports.payouts paid_at timestamp with time zone not null
reports.progress one boolean not null default true
reports.progress upto_seq bigint not null
reports.wallet_totals mint text not null
reports.wallet_totals wallet text not null
reports.wallet_totals day date not null
reports.wallet_totals payments bigint not null
reports.wallet_totals received numeric(38,0) not null
reports.wallet_totals burned numeric(38,0) not null
reports.wallet_totals provider numeric(38,0) not null
reports.wallet_totals holders numeric(38,0) not null
reports.wallet_totals treasury numeric(38,0) not null
reports.wallet_totals lost numeric(38,0) not null default 0

-- constraints
ledger.balances balances_one_per_account PRIMARY KEY (mint, account)
ledger.burn_totals burn_totals_one_per_span PRIMARY KEY (mint, span, starts_at, endpoint)
ledger.burn_totals burn_totals_span_is_known CHECK ((span = ANY (ARRAY['all'::text, 'day'::text, 'hour'::text])))
ledger.checkpoints checkpoints_one_per_size PRIMARY KEY (size)
ledger.checkpoints checkpoints_root_is_sha256 CHECK ((octet_length(root) = 32))
ledger.checkpoints checkpoints_size_counts_events CHECK ((size > 0))
ledger.entries entries_line_is_unique PRIMARY KEY (seq, line)
ledger.entries entries_move_something CHECK ((amount <> (0)::numeric))
ledger.events events_body_fits_a_tile_entry CHECK (((octet_length(body) >= 2) AND (octet_length(body) <= 65519)))
ledger.events events_leaf_is_sha256 CHECK ((octet_length(leaf_hash) = 32))
ledger.events events_position_counts_from_one CHECK ((seq > 0))
ledger.events events_position_is_unique PRIMARY KEY (seq)
ledger.events events_version_counts_from_one CHECK ((version > 0))
ledger.exposure exposure_is_no_debt CHECK ((amount >= (0)::numeric))
ledger.exposure exposure_is_one_row CHECK (one)
ledger.exposure exposure_pkey PRIMARY KEY (one)
ledger.head head_is_one_row CHECK (one)
ledger.head head_pkey PRIMARY KEY (one)
ledger.payments payments_await_finality_once_verified CHECK (((NOT awaiting_finality) OR (state = ANY (ARRAY['verified'::text, 'claimed'::text, 'released'::text, 'fulfilled'::text]))))
ledger.payments payments_claim_has_a_lease CHECK (((state = 'claimed'::text) = (lease_until IS NOT NULL)))
ledger.payments payments_expose_until_final CHECK (((exposed = (0)::numeric) OR awaiting_finality))
ledger.payments payments_signature_is_64_bytes CHECK ((octet_length(signature) = 64))
ledger.payments payments_signature_used_once PRIMARY KEY (signature)
ledger.payments payments_state_is_known CHECK ((state = ANY (ARRAY['submitted'::text, 'verified'::text, 'claimed'::text, 'released'::text, 'fulfilled'::text, 'refund_due'::text, 'reversed'::text, 'unmatched'::text])))
ledger.payments payments_version_counts_events CHECK ((version = cardinality(seqs)))
ledger.payouts payouts_signature_recorded_once PRIMARY KEY (signature)
ledger.price_lists price_lists_version_is_unique PRIMARY KEY (version)
ledger.quotes quotes_are_found_by_wallet_and_endpoint PRIMARY KEY (wallet, endpoint, issued_at, id)
ledger.quotes quotes_expire CHECK ((expires_at > issued_at))
ledger.quotes quotes_shares_add_up CHECK (((((burn + provider) + holders) + treasury) = required))
ledger.tiles tiles_are_full CHECK ((octet_length(hashes) = (256 * 32)))
ledger.tiles tiles_are_written_once PRIMARY KEY (level, index)
ledger.tiles tiles_count_from_zero CHECK ((index >= 0))
ledger.tiles tiles_level_is_of_a_countable_tree CHECK (((level >= 0) AND (level <= 6)))
ledger.tiles tiles_root_is_sha256 CHECK ((octet_length(root) = 32))
news.articles articles_hash_is_sha256 CHECK ((octet_length(url_hash) = 32))
news.articles articles_url_is_kept_once PRIMARY KEY (url_hash)
news.articles articles_url_is_web CHECK ((url ~ '^https?://'::text))
news.polls polls_failures_count_from_zero CHECK ((failures >= 0))
news.polls polls_name_is_unique PRIMARY KEY (name)
paywall.idempotent_answers idempotent_answers_key_used_once PRIMARY KEY (wallet, key)
paywall.transfer_scans transfer_scans_pkey PRIMARY KEY (token_account)
reports.daily_totals daily_totals_one_row_each PRIMARY KEY (mint, day, endpoint, account)
reports.payment_totals payment_totals_one_row_each PRIMARY KEY (mint, wallet, day, endpoint)
reports.payments payments_one_row_each PRIMARY KEY (signature)
reports.payouts payouts_one_row_each PRIMARY KEY (seq, line)
reports.progress progress_is_one_row PRIMARY KEY (one)
reports.progress progress_is_the_one CHECK (one)
reports.wallet_totals wallet_totals_one_row_each PRIMARY KEY (mint, wallet, day)

-- indexes
CREATE INDEX articles_by_category ON news.articles USING gin (categories)
CREATE INDEX articles_by_question ON news.articles USING gin (found_by)
CREATE INDEX articles_by_time ON news.articles USING btree (published_at DESC)
CREATE INDEX articles_by_title ON news.articles USING btree (title_key, published_at)
CREATE INDEX articles_by_words ON news.articles USING gin (words)
CREATE INDEX idempotent_answers_by_age ON paywall.idempotent_answers USING btree (recorded_at)
CREATE INDEX payments_by_endpoint ON reports.payments USING btree (endpoint, paid_at, seq)
CREATE INDEX payments_by_time ON reports.payments USING btree (paid_at, seq)
CREATE INDEX payments_by_wallet ON reports.payments USING btree (wallet, paid_at, seq)
CREATE INDEX payments_still_open ON ledger.payments USING btree (created_at, signature) WHERE (awaiting_finality OR (state = ANY (ARRAY['verified'::text, 'claimed'::text, 'released'::text])))
CREATE INDEX payments_unsettled ON reports.payments USING btree (state, paid_at, seq) WHERE (state <> 'fulfilled'::text)
CREATE INDEX payouts_by_account ON reports.payouts USING btree (account, seq, line)
CREATE INDEX payouts_by_wallet ON reports.payouts USING btree (wallet, seq, line)
CREATE INDEX price_lists_by_time ON ledger.price_lists USING btree (effective_at)
CREATE UNIQUE INDEX articles_url_is_kept_once ON news.articles USING btree (url_hash)
CREATE UNIQUE INDEX balances_one_per_account ON ledger.balances USING btree (mint, account)
CREATE UNIQUE INDEX burn_totals_one_per_span ON ledger.burn_totals USING btree (mint, span, starts_at, endpoint)
CREATE UNIQUE INDEX checkpoints_one_per_size ON ledger.checkpoints USING btree (size)
CREATE UNIQUE INDEX daily_totals_one_row_each ON reports.daily_totals USING btree (mint, day, endpoint, account)
CREATE UNIQUE INDEX entries_line_is_unique ON ONLY ledger.entries USING btree (seq, line)
CREATE UNIQUE INDEX events_position_is_unique ON ONLY ledger.events USING btree (seq)
CREATE UNIQUE INDEX exposure_pkey ON ledger.exposure USING btree (one)
CREATE UNIQUE INDEX head_pkey ON ledger.head USING btree (one)
CREATE UNIQUE INDEX idempotent_answers_key_used_once ON paywall.idempotent_answers USING btree (wallet, key)
CREATE UNIQUE INDEX payment_totals_one_row_each ON reports.payment_totals USING btree (mint, wallet, day, endpoint)
CREATE UNIQUE INDEX payments_one_row_each ON reports.payments USING btree (signature)
CREATE UNIQUE INDEX payments_signature_used_once ON ledger.payments USING btree (signature)
CREATE UNIQUE INDEX payouts_one_row_each ON reports.payouts USING btree (seq, line)
CREATE UNIQUE INDEX payouts_signature_recorded_once ON ledger.payouts USING btree (signature)
CREATE UNIQUE INDEX polls_name_is_unique ON news.polls USING btree (name)
CREATE UNIQUE INDEX price_lists_version_is_unique ON ledger.price_lists USING btree (version)
CREATE UNIQUE INDEX progress_is_one_row ON reports.progress USING btree (one)
CREATE UNIQUE INDEX quotes_are_found_by_wallet_and_endpoint ON ONLY ledger.quotes USING btree (wallet, endpoint, issued_at, id)
CREATE UNIQUE INDEX tiles_are_written_once ON ledger.tiles USING btree (level, index)
CREATE UNIQUE INDEX transfer_scans_pkey ON paywall.transfer_scans USING btree (token_account)
CREATE UNIQUE INDEX wallet_totals_one_row_each ON reports.wallet_totals USING btree (mint, wallet, day)

-- triggers (A: always, also for a superuser who replays a replica)
A CREATE TRIGGER projection_follows_the_log BEFORE INSERT OR UPDATE ON ledger.balances FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_direct_write()
A CREATE TRIGGER projection_is_never_emptied BEFORE TRUNCATE ON ledger.balances FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change()
A CREATE TRIGGER projection_never_shrinks BEFORE DELETE ON ledger.balances FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change()
A CREATE TRIGGER projection_follows_the_log BEFORE INSERT OR UPDATE ON ledger.burn_totals FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_direct_write()
A CREATE TRIGGER projection_is_never_emptied BEFORE TRUNCATE ON ledger.burn_totals FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change()
A CREATE TRIGGER projection_never_shrinks BEFORE DELETE ON ledger.burn_totals FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change()
A CREATE TRIGGER log_is_never_emptied BEFORE TRUNCATE ON ledger.checkpoints FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change()
A CREATE TRIGGER log_is_written_by_functions BEFORE INSERT ON ledger.checkpoints FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_direct_write()
A CREATE TRIGGER log_never_changes BEFORE DELETE OR UPDATE ON ledger.checkpoints FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change()
A CREATE TRIGGER log_is_never_emptied BEFORE TRUNCATE ON ledger.entries FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change()
A CREATE TRIGGER log_is_written_by_functions BEFORE INSERT ON ledger.entries FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_direct_write()
A CREATE TRIGGER log_never_changes BEFORE DELETE OR UPDATE ON ledger.entries FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change()
A CREATE TRIGGER log_is_never_emptied BEFORE TRUNCATE ON ledger.events FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change()
A CREATE TRIGGER log_is_written_by_functions BEFORE INSERT ON ledger.events FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_direct_write()
A CREATE TRIGGER log_never_changes BEFORE DELETE OR UPDATE ON ledger.events FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change()
A CREATE TRIGGER projection_follows_the_log BEFORE INSERT OR UPDATE ON ledger.exposure FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_direct_write()
A CREATE TRIGGER projection_is_never_emptied BEFORE TRUNCATE ON ledger.exposure FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change()
A CREATE TRIGGER projection_never_shrinks BEFORE DELETE ON ledger.exposure FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change()
A CREATE TRIGGER projection_follows_the_log BEFORE INSERT OR UPDATE ON ledger.head FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_direct_write()
A CREATE TRIGGER projection_is_never_emptied BEFORE TRUNCATE ON ledger.head FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change()
A CREATE TRIGGER projection_never_shrinks BEFORE DELETE ON ledger.head FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change()
A CREATE TRIGGER projection_follows_the_log BEFORE INSERT OR UPDATE ON ledger.payments FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_direct_write()
A CREATE TRIGGER projection_is_never_emptied BEFORE TRUNCATE ON ledger.payments FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change()
A CREATE TRIGGER projection_never_shrinks BEFORE DELETE ON ledger.payments FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change()
A CREATE TRIGGER log_is_never_emptied BEFORE TRUNCATE ON ledger.payouts FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change()
A CREATE TRIGGER log_is_written_by_functions BEFORE INSERT ON ledger.payouts FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_direct_write()
A CREATE TRIGGER log_never_changes BEFORE DELETE OR UPDATE ON ledger.payouts FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change()
A CREATE TRIGGER log_is_never_emptied BEFORE TRUNCATE ON ledger.price_lists FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change()
A CREATE TRIGGER log_is_written_by_functions BEFORE INSERT ON ledger.price_lists FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_direct_write()
A CREATE TRIGGER log_never_changes BEFORE DELETE OR UPDATE ON ledger.price_lists FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change()
A CREATE TRIGGER log_is_never_emptied BEFORE TRUNCATE ON ledger.quotes FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change()
A CREATE TRIGGER log_is_written_by_functions BEFORE INSERT ON ledger.quotes FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_direct_write()
A CREATE TRIGGER log_never_changes BEFORE DELETE OR UPDATE ON ledger.quotes FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change()
A CREATE TRIGGER log_is_never_emptied BEFORE TRUNCATE ON ledger.tiles FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change()
A CREATE TRIGGER log_is_written_by_functions BEFORE INSERT ON ledger.tiles FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_direct_write()
A CREATE TRIGGER log_never_changes BEFORE DELETE OR UPDATE ON ledger.tiles FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change()

-- functions (with a digest of their text)
ledger.add_partition(parent regclass, name text, bounds text[]) returns void  39f61d645991cf5d
ledger.add_partitions() returns void security definer search_path="" bbe29f2aa5ff733c
ledger.append(streams text[], signatures bytea[], expected_versions integer[], states text[], awaiting boolean[], exposed numeric[], wallets text[], endpoints text[], attempts integer[], leases_ms integer[], quote_ids text[], idempotency_keys text[], order_digests text[], answers text[], event_items integer[], event_versions integer[], event_kinds text[], event_schema_versions smallint[], event_times_ms bigint[], event_starts integer[], event_lengths integer[], entry_events integer[], entry_lines smallint[], entry_accounts text[], entry_mints text[], entry_amounts numeric[], bodies bytea) returns TABLE(n integer, refusal text, recorded_at timestamp with time zone, first_position bigint, leaf_hashes bytea) security definer search_path="" enable_seqscan=off jit=off plan_cache_mode=force_generic_plan b43c572ceb5b9e99
ledger.may_follow(known_state text, known_attempt integer, lease_ended boolean, known_awaiting boolean, next_state text, next_attempt integer, next_awaiting boolean) returns boolean  5ce8f1430a9ca448
ledger.protect_log(protected regclass) returns void  a4116be2ac6556fd
ledger.protect_projection(protected regclass) returns void  99da0ead9c74f89b
ledger.record_payout(body bytea) returns TABLE(refusal text, seq bigint, leaf_hash bytea, recorded_at timestamp with time zone) security definer search_path="" 3afee394f91a96f7
ledger.record_quotes(ids text[], wallets text[], endpoints text[], memos text[], prices_micro_usd bigint[], token_prices_atto_usd numeric[], mints text[], decimals smallint[], required numeric[], burn numeric[], provider numeric[], holders numeric[], treasury numeric[], issued_ms bigint[], expires_ms bigint[], slots bigint[]) returns void security definer search_path="" 42257eb1757c1f71
ledger.refuse_change() returns trigger  e83d8881b2d67df5
ledger.refuse_direct_write() returns trigger  1ee1939b0459f218
ledger.seal(tree_size bigint, tree_root bytea, signed_note text, tile_levels smallint[], tile_indexes bigint[], tile_hashes bytea[], tile_roots bytea[]) returns void security definer search_path="" enable_seqscan=off jit=off 488a2ebb72e050ee
ledger.take_back_burns(dropped bytea[], after_seq bigint) returns void search_path="" c7b5bad39979ec4d
news.forget_old() returns bigint security definer search_path="" 2af8186d4217aa46
news.keep_articles(url_keys text[], urls text[], titles text[], title_keys text[], publishers text[], published_ms bigint[], provider text, category text, question text) returns integer security definer search_path="" eec0632c586af4ed
news.poll_failed(polled text) returns void security definer search_path="" 7045eb90293a2a3f
news.poll_succeeded(polled text, next_ms integer, new_etag text, new_last_modified text) returns void security definer search_path="" b8797da6eb330422
news.take_poll(names text[], lanes text[], wanted_categories text[], spacings_ms integer[], lease_ms integer) returns TABLE(poll text, poll_etag text, poll_last_modified text) security definer search_path="" 7febbc02889f4a00
paywall.forget_old_answers() returns bigint security definer search_path="" 495679c9e016ed1a
paywall.move_transfer_scan(token_account text, signature text, slot bigint) returns void security definer search_path="" 7fa00db92de7625f
reports.add_entries(from_seq bigint, to_seq bigint) returns void search_path="" 7f95d39b8fb941b5
reports.list_payments(from_seq bigint, to_seq bigint) returns void search_path="" 53b4f8b53d338506
reports.list_payouts(from_seq bigint, to_seq bigint) returns void search_path="" 8ad0db0304f3e08d
reports.roll_up(events_max integer) returns bigint security definer search_path="" jit=off plan_cache_mode=force_custom_plan 446ff02aa72fe02f
reports.start_anew() returns void search_path="" dcba6ce4198c0fe1

-- rights on tables of others than the owner
ledger.balances tollbook_payout SELECT
ledger.balances tollbook_reader SELECT
ledger.balances tollbook_service SELECT
ledger.burn_totals tollbook_reader SELECT
ledger.burn_totals tollbook_service SELECT
ledger.checkpoints tollbook_reader SELECT
ledger.checkpoints tollbook_service SELECT
ledger.entries tollbook_reader SELECT
ledger.entries tollbook_service SELECT
ledger.events tollbook_reader SELECT
ledger.events tollbook_service SELECT
ledger.exposure tollbook_reader SELECT
ledger.exposure tollbook_service SELECT
ledger.head tollbook_payout SELECT
ledger.head tollbook_reader SELECT
ledger.head tollbook_service SELECT
ledger.payments tollbook_payout SELECT
ledger.payments tollbook_reader SELECT
ledger.payments tollbook_service SELECT
ledger.payouts tollbook_payout SELECT
ledger.payouts tollbook_reader SELECT
ledger.payouts tollbook_service SELECT
ledger.price_lists tollbook_reader SELECT
ledger.price_lists tollbook_service SELECT
ledger.quotes tollbook_reader SELECT
ledger.quotes tollbook_service SELECT
ledger.tiles tollbook_reader SELECT
ledger.tiles tollbook_service SELECT
news.articles tollbook_service SELECT
news.polls tollbook_service SELECT
paywall.idempotent_answers tollbook_service SELECT
paywall.transfer_scans tollbook_service SELECT
reports.daily_totals tollbook_reader SELECT
reports.daily_totals tollbook_service SELECT
reports.payment_totals tollbook_reader SELECT
reports.payment_totals tollbook_service SELECT
reports.payments tollbook_reader SELECT
reports.payments tollbook_service SELECT
reports.payouts tollbook_reader SELECT
reports.payouts tollbook_service SELECT
reports.progress tollbook_reader SELECT
reports.progress tollbook_service SELECT
reports.wallet_totals tollbook_reader SELECT
reports.wallet_totals tollbook_service SELECT

-- rights to execute of others than the owner
ledger.add_partitions tollbook_service
ledger.append tollbook_service
ledger.record_payout tollbook_payout
ledger.record_quotes tollbook_service
ledger.seal tollbook_service
news.forget_old tollbook_service
news.keep_articles tollbook_service
news.poll_failed tollbook_service
news.poll_succeeded tollbook_service
news.take_poll tollbook_service
paywall.forget_old_answers tollbook_service
paywall.move_transfer_scan tollbook_service
reports.roll_up tollbook_service
