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
paywall.idempotent_answers wallet text not null
paywall.idempotent_answers key text not null
paywall.idempotent_answers signature bytea not null
paywall.idempotent_answers order_digest text not null
paywall.idempotent_answers recorded_at timestamp with time zone not null
paywall.idempotent_answers answer text
paywall.idempotent_answers fulfilled_seq bigint
paywall.idempotent_answers fulfilled_leaf bytea
paywall.idempotent_answers fulfilled_at timestamp with time zone

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
ledger.head head_is_one_row CHECK (one)
ledger.head head_pkey PRIMARY KEY (one)
ledger.payments payments_claim_has_a_lease CHECK (((state = 'claimed'::text) = (lease_until IS NOT NULL)))
ledger.payments payments_signature_is_64_bytes CHECK ((octet_length(signature) = 64))
ledger.payments payments_signature_used_once PRIMARY KEY (signature)
ledger.payments payments_state_is_known CHECK ((state = ANY (ARRAY['submitted'::text, 'verified'::text, 'claimed'::text, 'released'::text, 'fulfilled'::text])))
ledger.payments payments_version_counts_events CHECK ((version = cardinality(seqs)))
ledger.price_lists price_lists_version_is_unique PRIMARY KEY (version)
ledger.quotes quotes_are_found_by_wallet_and_endpoint PRIMARY KEY (wallet, endpoint, issued_at, id)
ledger.quotes quotes_expire CHECK ((expires_at > issued_at))
ledger.quotes quotes_shares_add_up CHECK (((((burn + provider) + holders) + treasury) = required))
ledger.tiles tiles_are_full CHECK ((octet_length(hashes) = (256 * 32)))
ledger.tiles tiles_are_written_once PRIMARY KEY (level, index)
ledger.tiles tiles_count_from_zero CHECK ((index >= 0))
ledger.tiles tiles_level_is_of_a_countable_tree CHECK (((level >= 0) AND (level <= 6)))
ledger.tiles tiles_root_is_sha256 CHECK ((octet_length(root) = 32))
paywall.idempotent_answers idempotent_answers_key_used_once PRIMARY KEY (wallet, key)

-- indexes
CREATE INDEX idempotent_answers_by_age ON paywall.idempotent_answers USING btree (recorded_at)
CREATE INDEX price_lists_by_time ON ledger.price_lists USING btree (effective_at)
CREATE UNIQUE INDEX balances_one_per_account ON ledger.balances USING btree (mint, account)
CREATE UNIQUE INDEX burn_totals_one_per_span ON ledger.burn_totals USING btree (mint, span, starts_at, endpoint)
CREATE UNIQUE INDEX checkpoints_one_per_size ON ledger.checkpoints USING btree (size)
CREATE UNIQUE INDEX entries_line_is_unique ON ONLY ledger.entries USING btree (seq, line)
CREATE UNIQUE INDEX events_position_is_unique ON ONLY ledger.events USING btree (seq)
CREATE UNIQUE INDEX head_pkey ON ledger.head USING btree (one)
CREATE UNIQUE INDEX idempotent_answers_key_used_once ON paywall.idempotent_answers USING btree (wallet, key)
CREATE UNIQUE INDEX payments_signature_used_once ON ledger.payments USING btree (signature)
CREATE UNIQUE INDEX price_lists_version_is_unique ON ledger.price_lists USING btree (version)
CREATE UNIQUE INDEX quotes_are_found_by_wallet_and_endpoint ON ONLY ledger.quotes USING btree (wallet, endpoint, issued_at, id)
CREATE UNIQUE INDEX tiles_are_written_once ON ledger.tiles USING btree (level, index)

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
A CREATE TRIGGER projection_follows_the_log BEFORE INSERT OR UPDATE ON ledger.head FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_direct_write()
A CREATE TRIGGER projection_is_never_emptied BEFORE TRUNCATE ON ledger.head FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change()
A CREATE TRIGGER projection_never_shrinks BEFORE DELETE ON ledger.head FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change()
A CREATE TRIGGER projection_follows_the_log BEFORE INSERT OR UPDATE ON ledger.payments FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_direct_write()
A CREATE TRIGGER projection_is_never_emptied BEFORE TRUNCATE ON ledger.payments FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change()
A CREATE TRIGGER projection_never_shrinks BEFORE DELETE ON ledger.payments FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change()
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
ledger.append(streams text[], signatures bytea[], expected_versions integer[], states text[], wallets text[], endpoints text[], attempts integer[], leases_ms integer[], quote_ids text[], idempotency_keys text[], order_digests text[], answers text[], event_items integer[], event_versions integer[], event_kinds text[], event_schema_versions smallint[], event_times_ms bigint[], event_starts integer[], event_lengths integer[], entry_events integer[], entry_lines smallint[], entry_accounts text[], entry_mints text[], entry_amounts numeric[], bodies bytea) returns TABLE(n integer, refusal text, recorded_at timestamp with time zone, first_position bigint, leaf_hashes bytea) security definer search_path="" enable_seqscan=off jit=off plan_cache_mode=force_generic_plan ded3652365cea71b
ledger.may_follow(known_state text, known_attempt integer, lease_ended boolean, next_state text, next_attempt integer) returns boolean  30ad0f1bd506fcdd
ledger.protect_log(protected regclass) returns void  a4116be2ac6556fd
ledger.protect_projection(protected regclass) returns void  99da0ead9c74f89b
ledger.record_quotes(ids text[], wallets text[], endpoints text[], memos text[], prices_micro_usd bigint[], token_prices_atto_usd numeric[], mints text[], decimals smallint[], required numeric[], burn numeric[], provider numeric[], holders numeric[], treasury numeric[], issued_ms bigint[], expires_ms bigint[], slots bigint[]) returns void security definer search_path="" 42257eb1757c1f71
ledger.refuse_change() returns trigger  e83d8881b2d67df5
ledger.refuse_direct_write() returns trigger  1ee1939b0459f218
ledger.seal(tree_size bigint, tree_root bytea, signed_note text, tile_levels smallint[], tile_indexes bigint[], tile_hashes bytea[], tile_roots bytea[]) returns void security definer search_path="" enable_seqscan=off jit=off 488a2ebb72e050ee
paywall.forget_old_answers() returns bigint security definer search_path="" 495679c9e016ed1a

-- rights on tables of others than the owner
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
ledger.head tollbook_reader SELECT
ledger.head tollbook_service SELECT
ledger.payments tollbook_reader SELECT
ledger.payments tollbook_service SELECT
ledger.price_lists tollbook_reader SELECT
ledger.price_lists tollbook_service SELECT
ledger.quotes tollbook_reader SELECT
ledger.quotes tollbook_service SELECT
ledger.tiles tollbook_reader SELECT
ledger.tiles tollbook_service SELECT
paywall.idempotent_answers tollbook_service SELECT

-- rights to execute of others than the owner
ledger.add_partitions tollbook_service
ledger.append tollbook_service
ledger.record_quotes tollbook_service
ledger.seal tollbook_service
paywall.forget_old_answers tollbook_service
