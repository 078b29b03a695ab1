import type { ColumnType } from 'kysely'

/**
 * The tables as the service sees them: it reads them and calls functions, and has no right to more (migrations/).
 * `numeric` arrives as text and becomes a bigint at the reader; positions are safe integers for the next 9e15 events.
 */
export interface Tables {
  'ledger.head': { one: Read<boolean>; seq: Read<number>; recorded_at: Read<Date> }
  /** Only for readers of the whole log, by position: a stream is read by `ledger.read`. */
  'ledger.events': {
    seq: Read<number>
    /** Position of the stream's first event. */
    stream: Read<number>
    version: Read<number>
    kind: Read<string>
    schema_version: Read<number>
    recorded_at: Read<Date>
    effective_at: Read<Date>
    body: Read<Buffer>
    leaf_hash: Read<Buffer>
  }
  'ledger.streams': {
    id: Read<Buffer>
    stream: Read<number>
    kind: Read<string>
    state: Read<string>
    version: Read<number>
    lease_until: Read<Date | null>
  }
  'ledger.accounts': {
    id: Read<number>
    mint: Read<string>
    name: Read<string>
    class: Read<string>
    balance: Read<string>
    entries: Read<number>
    debit_entries: Read<number>
    upto_seq: Read<number>
  }
  'ledger.entries': {
    seq: Read<number>
    line: Read<number>
    account: Read<string>
    mint: Read<string>
    amount: Read<string>
  }
  'ledger.tallies': { account: Read<number>; hour: Read<Date>; amount: Read<string>; entries: Read<number> }
  'ledger.settings': {
    name: Read<string>
    number: Read<number>
    seq: Read<number>
    valid_from: Read<Date>
    body: Read<Buffer>
  }
  'ledger.keys': {
    space: Read<number>
    key: Read<Buffer>
    id: Read<Buffer>
    digest: Read<Buffer | null>
    until: Read<Date | null>
  }
  'ledger.notes': { id: Read<Buffer>; note: Read<Buffer>; recorded_at: Read<Date>; sent_at: Read<Date | null> }
  'work.open': { queue: Read<string>; stream: Read<number>; id: Read<Buffer>; due_at: Read<Date> }
  'work.presentations': {
    reference: Read<Buffer>
    wallet: Read<string>
    presented_at: Read<Date>
    last_valid_height: Read<number>
    number: Read<number>
    recorded_at: Read<Date>
  }
  'work.payout_attempts': {
    plan_id: Read<string>
    part: Read<number>
    signature: Read<string>
    last_valid_height: Read<number>
    transaction: Read<Buffer>
  }
  'work.progress': { one: Read<boolean>; upto_seq: Read<number> }
  'paywall.transfer_scans': {
    token_account: Read<string>
    signature: Read<string>
    slot: Read<number>
    scanned_at: Read<Date>
  }
  'ledger.tiles': { level: Read<number>; index: Read<number>; hashes: Read<Buffer>; root: Read<Buffer> }
  'ledger.checkpoints': { size: Read<number>; root: Read<Buffer>; note: Read<string>; sealed_at: Read<Date> }
  'news.articles': {
    url_hash: Read<Buffer>
    url: Read<string>
    title: Read<string>
    title_key: Read<string>
    publisher: Read<string>
    provider: Read<string>
    categories: Read<string[]>
    found_by: Read<string[]>
    published_at: Read<Date>
    fetched_at: Read<Date>
    words: Read<string>
    description: Read<string | null>
    image_url: Read<string | null>
    language: Read<string | null>
    feed: Read<string | null>
    rank: Read<number | null>
    story_words: Read<string[]>
    cluster: Read<string>
    leads: Read<boolean>
  }
  'news.polls': {
    name: Read<string>
    lane: Read<string>
    category: Read<string>
    due_at: Read<Date>
    taken_at: Read<Date | null>
    succeeded_at: Read<Date | null>
    failures: Read<number>
    etag: Read<string | null>
    last_modified: Read<string | null>
  }
}

/** A column that can be selected and neither inserted nor updated: the compiler says what the grants say. */
type Read<T> = ColumnType<T, never, never>
