import { assert } from '@tollbook/core/assert'
import type { Clock } from '@tollbook/core/clock'
import { leafHash } from '@tollbook/core/leaf'
import type { AccountClass, Declaration, Kind, Step } from './declaration.ts'
import {
  type AppendResult,
  type Item,
  type ItemKey,
  type PlainRefusal,
  type Posting,
  refused,
} from '@tollbook/ledger/item'
import type { LedgerKernel, RecordedEvent } from '@tollbook/ledger/port'
import { streamKey } from '@tollbook/ledger/readEvents'

export interface MemoryLedgerOptions {
  readonly declaration: Declaration
  readonly clock: Clock
}

/** The kernel's rules without a database, plus reads for tests. */
export interface MemoryLedger extends LedgerKernel {
  /** Balance of an account. 0n for an account without postings. */
  balance(mint: string, account: string): bigint
  note(stream: Uint8Array): Uint8Array | undefined
  /** State of a stream. Undefined if the stream does not exist. */
  stateOf(stream: Uint8Array): StreamState | undefined
  /** The current use of a key. Undefined if there is none or it has ended. */
  findKey(key: Pick<ItemKey, 'space' | 'key'>): UsedKey | undefined
  /** Balances of all accounts with postings, by `mint name`. */
  balances(): ReadonlyMap<string, bigint>
  /**
   * Like `append`, but synchronous. `writer` names the writer, because writers other than the service append through
   * separate functions.
   */
  appendNow(item: Item, writer?: string): AppendResult
  /** Like `read`, but synchronous. */
  readNow(stream: Uint8Array): readonly RecordedEvent[]
}

export interface StreamState {
  readonly kind: string
  readonly state: string
  readonly version: number
  readonly leaseUntilMs: number | undefined
}

export interface UsedKey {
  readonly stream: Uint8Array
  readonly digest: Uint8Array | undefined
}

interface Stream {
  readonly kind: string
  readonly state: string
  readonly leaseUntilMs: number | undefined
  readonly events: readonly RecordedEvent[]
}

interface Memory extends MemoryLedgerOptions {
  readonly streams: Map<string, Stream>
  readonly balances: Map<string, bigint>
  readonly keys: Map<string, { readonly stream: string; readonly digest: string; readonly untilMs: number }>
  readonly notes: Map<string, Uint8Array>
  position: number
  recordedAtMs: number
  /** Time on the ledger's clock at the last append. */
  clockAtMs: number
}

/** `ledger.append_batch` without a database, for unit tests. Other tests compare Postgres with this model. */
export function createMemoryLedger(options: MemoryLedgerOptions): MemoryLedger {
  const memory: Memory = {
    ...options,
    streams: new Map(),
    balances: new Map(),
    keys: new Map(),
    notes: new Map(),
    position: 0,
    recordedAtMs: 0,
    clockAtMs: 0,
  }
  const readNow = (stream: Uint8Array) => memory.streams.get(streamKey(stream))?.events ?? []
  const read = (stream: Uint8Array) => Promise.resolve(readNow(stream))
  return {
    append: async (item) => append(memory, item, service),
    read,
    readMany: (streams) => Promise.all(streams.map(read)),
    drained: () => Promise.resolve(),
    balance: (mint, account) => memory.balances.get(accountKey(mint, account)) ?? 0n,
    note: (stream) => memory.notes.get(streamKey(stream)),
    stateOf(stream) {
      const known = memory.streams.get(streamKey(stream))
      return known === undefined
        ? undefined
        : { kind: known.kind, state: known.state, version: known.events.length, leaseUntilMs: known.leaseUntilMs }
    },
    findKey(key) {
      const used = memory.keys.get(keyText(key))
      if (used === undefined || used.untilMs <= memory.clock.nowMs()) return undefined
      const digest = used.digest === '' ? undefined : Buffer.from(used.digest, 'latin1')
      return { stream: Buffer.from(used.stream, 'latin1'), digest }
    },
    balances: () => memory.balances,
    appendNow: (item, writer = service) => append(memory, item, writer),
    readNow,
  }
}

const service = 'service'

function append(memory: Memory, item: Item, writer: string): AppendResult {
  assert(item.events.length > 0, 'an append has at least one event')
  passTime(memory)
  const judged = judge(memory, item, writer)
  if (typeof judged === 'string') return refused(judged)
  const moved = movedBalances(
    memory,
    item.events.flatMap(({ postings }) => postings),
  )
  if (typeof moved === 'string') return { outcome: 'refused', refusal: { reason: 'limit', account: moved } }
  return record(memory, item, { step: judged, moved })
}

/** Follows sql/next_time.sql: time never goes back, and advances at half speed while the ledger is ahead of its clock. */
function passTime(memory: Memory): void {
  const nowMs = Math.floor(memory.clock.nowMs())
  if (memory.recordedAtMs <= nowMs) {
    memory.recordedAtMs = nowMs
    memory.clockAtMs = nowMs
    return
  }
  const before = Math.min(memory.clockAtMs, nowMs)
  const passedMs = nowMs - before
  if (passedMs < 2) memory.clockAtMs = before
  else {
    memory.clockAtMs = nowMs
    memory.recordedAtMs += Math.floor(passedMs / 2)
  }
}

/** Checks in the order of sql/append_judge.sql, because the first reason is returned. */
function judge(memory: Memory, item: Item, writer: string): Step | PlainRefusal {
  const { declaration, streams, recordedAtMs } = memory
  const known = streams.get(streamKey(item.stream))
  const from = known?.state ?? ''
  const declared = declaration.steps.filter(({ step }) => step === item.step)
  const kinds = item.events.map(({ kind }) => kind).join(',')
  const step = declared.find(({ fromState, eventKinds }) => fromState === from && eventKinds.join(',') === kinds)
  if ((known?.events.length ?? 0) !== item.expectedVersion) return 'conflict'
  if (known !== undefined && step !== undefined && known.kind !== step.kind) return 'conflict'
  if (step === undefined) {
    const startsHere = declared.some(({ fromState }) => fromState === from)
    return declared.length === 0 || startsHere ? 'not_this_step' : 'conflict'
  }
  if (step.afterLease && (known?.leaseUntilMs ?? 0) > recordedAtMs) return 'conflict'
  if (step.writer !== writer || (step.lease === 'take') !== (item.leaseMs !== undefined) || (item.leaseMs ?? 1) <= 0)
    return 'not_this_step'
  const kind = declaration.kinds.find(({ kind }) => kind === step.kind)
  if (kind === undefined || !isId(kind, item.stream)) return 'not_this_id'
  const postings = item.events.flatMap((event) => event.postings)
  if (!postings.every((posting) => mayMove(declaration, step, posting))) return 'overreaching'
  const isStale = item.guards?.some(
    ({ stream, version }) => (streams.get(streamKey(stream))?.events.length ?? 0) !== version,
  )
  if (isStale === true) return 'guard'
  if (item.keys?.some((key) => isUsed(memory, item, key)) === true) return 'key_used'
  return kind.isSetting ? judgeSetting(memory, item, step) : step
}

function isId({ space, idBytes, idPrefix }: Kind, stream: Uint8Array): boolean {
  const key = Buffer.from(stream.subarray(1))
  return (
    stream[0] === space &&
    key.length > 0 &&
    (idBytes === 0 || key.length === idBytes) &&
    key.toString('latin1').startsWith(idPrefix)
  )
}

function mayMove({ classes }: Declaration, { moves }: Step, { debit, credit, amountBaseUnits }: Posting): boolean {
  const from = classOf(classes, debit)
  const to = classOf(classes, credit)
  return amountBaseUnits > 0n && from !== undefined && to !== undefined && moves.includes(`${from.class}>${to.class}`)
}

function classOf(classes: readonly AccountClass[], account: string): AccountClass | undefined {
  return classes.find(({ prefix, isExact }) =>
    isExact ? account === prefix : account.startsWith(prefix) && account !== prefix,
  )
}

function isUsed({ keys, recordedAtMs }: Memory, { stream }: Item, key: ItemKey): boolean {
  const used = keys.get(keyText(key))
  if (used === undefined || used.untilMs <= recordedAtMs) return false
  return used.stream !== streamKey(stream) || used.digest !== digestText(key)
}

const settingText = /^(?<name>[a-z0-9-]{1,40}(?:\/[1-9A-Za-z]{1,44})?)#(?<number>[1-9][0-9]{0,8})$/

function judgeSetting({ streams }: Memory, { stream }: Item, step: Step): Step | PlainRefusal {
  const { name, number } = settingText.exec(Buffer.from(stream.subarray(1)).toString('latin1'))?.groups ?? {}
  if (name === undefined || Number(number) > (step.numberMax ?? Infinity)) return 'not_this_id'
  const before = Uint8Array.of(stream[0] ?? 0, ...Buffer.from(`${name}#${Number(number) - 1}`))
  return Number(number) === 1 || streams.has(streamKey(before)) ? step : 'guard'
}

/** Returns the balances after the postings, or the first account that the postings would take beyond its limits. */
function movedBalances(
  { declaration, balances }: Memory,
  postings: readonly Posting[],
): ReadonlyMap<string, bigint> | string {
  const after = new Map<string, bigint>()
  const add = (mint: string, account: string, amountBaseUnits: bigint) => {
    const key = accountKey(mint, account)
    after.set(key, (after.get(key) ?? balances.get(key) ?? 0n) + amountBaseUnits)
  }
  for (const { debit, credit, mint, amountBaseUnits } of postings) {
    add(mint, debit, amountBaseUnits)
    add(mint, credit, -amountBaseUnits)
  }
  for (const { debit, credit, mint } of postings) {
    const ceilingBaseUnits = classOf(declaration.classes, debit)?.ceilingBaseUnits
    if (ceilingBaseUnits !== undefined && (after.get(accountKey(mint, debit)) ?? 0n) > ceilingBaseUnits) return debit
    const floorBaseUnits = classOf(declaration.classes, credit)?.floorBaseUnits
    if (floorBaseUnits !== undefined && (after.get(accountKey(mint, credit)) ?? 0n) < floorBaseUnits) return credit
  }
  return after
}

interface Judged {
  readonly step: Step
  readonly moved: ReadonlyMap<string, bigint>
}

function record(memory: Memory, item: Item, { step, moved }: Judged): AppendResult {
  const { recordedAtMs, streams, balances, keys, notes } = memory
  assert(step.toState !== '', 'a step leads to a state')
  const id = streamKey(item.stream)
  const added = item.events.map(({ kind, schemaVersion, effectiveAtMs, body }, index): RecordedEvent => {
    const position = (memory.position += 1)
    const hash = Buffer.from(leafHash({ position, recordedAtMs, body })).toString('hex')
    return {
      position,
      version: item.expectedVersion + index + 1,
      kind,
      schemaVersion,
      recordedAtMs,
      effectiveAtMs,
      body,
      leafHash: hash,
    }
  })
  const leaseUntilMs = item.leaseMs === undefined ? undefined : recordedAtMs + item.leaseMs
  streams.set(id, {
    kind: step.kind,
    state: step.toState,
    leaseUntilMs,
    events: [...(streams.get(id)?.events ?? []), ...added],
  })
  for (const [account, balance] of moved) balances.set(account, balance)
  for (const key of item.keys ?? []) {
    const untilMs = key.lifetimeSeconds === undefined ? Infinity : recordedAtMs + key.lifetimeSeconds * 1000
    keys.set(keyText(key), { stream: id, digest: digestText(key), untilMs })
  }
  if (item.note !== undefined && !notes.has(id)) notes.set(id, item.note)
  return { outcome: 'appended', recordedAtMs, leaves: added.map(({ position, leafHash }) => ({ position, leafHash })) }
}

function accountKey(mint: string, account: string): string {
  return `${mint} ${account}`
}

function keyText({ space, key }: Pick<ItemKey, 'space' | 'key'>): string {
  return `${space} ${streamKey(key)}`
}

function digestText({ digest }: ItemKey): string {
  return digest === undefined ? '' : streamKey(digest)
}
