import type { ColumnType } from 'kysely'

/**
 * The tables as the service sees them: it reads them and calls functions, and has no right to more (migrations/0005, 0007).
 * `numeric` arrives as text and becomes a bigint at the reader; positions are safe integers for the next 9e15 events.
 */
export interface Tables {
  'ledger.head': { one: Read<boolean>; seq: Read<number>; recorded_at: Read<Date> }
  'ledger.events': {
    seq: Read<number>
    stream: Read<string>
    version: Read<number>
    kind: Read<string>
    schema_version: Read<number>
    recorded_at: Read<Date>
    effective_at: Read<Date>
    body: Read<Buffer>
    leaf_hash: Read<Buffer>
  }
  'ledger.payments': {
    signature: Read<Buffer>
    version: Read<number>
    state: Read<string>
    wallet: Read<string>
    endpoint: Read<string>
    attempt: Read<number>
    lease_until: Read<Date | null>
    quote_id: Read<string | null>
    seqs: Read<number[]>
    created_at: Read<Date>
    updated_at: Read<Date>
  }
  'ledger.entries': {
    seq: Read<number>
    line: Read<number>
    account: Read<string>
    mint: Read<string>
    amount: Read<string>
  }
  'ledger.balances': {
    mint: Read<string>
    account: Read<string>
    balance: Read<string>
    entries: Read<number>
    upto_seq: Read<number>
  }
  'ledger.burn_totals': {
    mint: Read<string>
    span: Read<'all' | 'day' | 'hour'>
    starts_at: Read<Date>
    endpoint: Read<string>
    burned: Read<string>
    payments: Read<number>
  }
  'ledger.price_lists': { version: Read<number>; seq: Read<number>; effective_at: Read<Date>; body: Read<Buffer> }
  'ledger.quotes': {
    id: Read<string>
    wallet: Read<string>
    endpoint: Read<string>
    memo: Read<string>
    price_micro_usd: Read<number>
    token_price_atto_usd: Read<string>
    mint: Read<string>
    decimals: Read<number>
    required: Read<string>
    burn: Read<string>
    provider: Read<string>
    holders: Read<string>
    treasury: Read<string>
    issued_at: Read<Date>
    expires_at: Read<Date>
    slot: Read<number>
  }
  'ledger.tiles': { level: Read<number>; index: Read<number>; hashes: Read<Buffer>; root: Read<Buffer> }
  'ledger.checkpoints': { size: Read<number>; root: Read<Buffer>; note: Read<string>; sealed_at: Read<Date> }
  'paywall.idempotent_answers': {
    wallet: Read<string>
    key: Read<string>
    signature: Read<Buffer>
    order_digest: Read<string>
    recorded_at: Read<Date>
    answer: Read<string | null>
    fulfilled_seq: Read<number | null>
    fulfilled_leaf: Read<Buffer | null>
    fulfilled_at: Read<Date | null>
  }
}

/** A column that can be selected and neither inserted nor updated: the compiler says what the grants say. */
type Read<T> = ColumnType<T, never, never>
