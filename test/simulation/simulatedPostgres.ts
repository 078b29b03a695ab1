import { assert, assertPresent } from '@tollbook/core/assert'
import type { Clock } from '@tollbook/core/clock'
import { readDeclaration, type Declaration } from '../kernel/declaration.ts'
import type { AppendResult, Item } from '@tollbook/ledger/item'
import { createMemoryLedger, type MemoryLedger } from '../kernel/memoryLedger.ts'
import { streamKey } from '@tollbook/ledger/readEvents'
import { readFile, readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { elements, itemsOfCall } from './appendColumns.ts'
import { findBoundQuote, findOpenQuote, type QuoteRow, recordQuotes } from './simulatedQuotes.ts'
import { endLease, type LeaseRow, renewLease, takeLease } from './simulatedLeases.ts'
import { bytesOf, timeOf } from './statementValue.ts'

/*
 * A Postgres of one process: it answers the statements of src/store and packages/ledger from a ledger in memory. It has
 * no delay and no failure; `simulatedNetwork.ts` adds those. A statement that it does not know is a bug of the
 * simulation.
 */

const kindsFolder = fileURLToPath(new URL('../../migrations/kinds', import.meta.url))

export interface SchemaRules {
  readonly declaration: Declaration
  readonly work: readonly WorkRule[]
}

interface WorkRule {
  readonly kind: string
  readonly state: string
  readonly queue: string
  readonly due: string
}

/** The declared rows of migrations/kinds. */
export async function readSchemaRules(): Promise<SchemaRules> {
  const declaration = await readDeclaration(kindsFolder)
  const files = (await readdir(kindsFolder)).filter((name) => name.endsWith('.sql'))
  const texts = await Promise.all(files.map((name) => readFile(`${kindsFolder}/${name}`, 'utf8')))
  const work = texts
    .flatMap((text) => text.split('insert into work.rules').slice(1))
    .flatMap((rows) => [
      ...(rows.split('on conflict')[0] ?? '').matchAll(/\('([^']*)', '([^']*)', '([^']*)', '([^']*)'\)/g),
    ])
    .map(([, kind = '', state = '', queue = '', due = '']) => ({ kind, state, queue, due }))
  assert(work.length > 0, 'the declaration has rules for open work')
  return { declaration, work }
}

export interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
}

/** One judged item, with the time of the database: what a replay on a real Postgres needs. */
export interface JudgedItem {
  readonly item: Item
  readonly atMs: number
  readonly result: AppendResult
}

export interface SimulatedPostgres {
  readonly memory: MemoryLedger
  readonly judged: readonly JudgedItem[]
  /** The streams in the order of their first event. */
  streams(): readonly Uint8Array[]
  execute(statement: Statement): readonly object[]
}

export interface SimulatedPostgresOptions {
  readonly rules: SchemaRules
  readonly clock: Clock
  /**
   * True when a lease that is held is granted again: its holder was paused, and does not know that it has been
   * replaced.
   */
  readonly grantsTwice: () => boolean
}

interface OpenWork {
  readonly id: Uint8Array
  readonly queue: string
  readonly dueAtMs: number
  readonly position: number
}

interface SettingRow {
  readonly name: string
  readonly number: number
  readonly validFromMs: number
  readonly body: Uint8Array
}

interface State extends SimulatedPostgresOptions {
  readonly memory: MemoryLedger
  readonly judged: JudgedItem[]
  /** By key: position and time of the first event. */
  readonly created: Map<string, { readonly id: Uint8Array; readonly position: number; readonly atMs: number }>
  readonly quotes: QuoteRow[]
  readonly settings: SettingRow[]
  readonly leases: Map<string, LeaseRow>
  /** Notes that were deleted once they were sent. */
  readonly ended: Set<string>
  /** Notes that were marked as sent, and when. */
  readonly sent: Map<string, number>
  readonly presentations: Map<string, PresentationRow>
  readonly scans: Map<string, { readonly signature: string; readonly slot: number }>
  open: readonly OpenWork[]
  followedTo: number
  position: number
}

type Answer = (state: State, statement: Statement) => readonly object[]

export function createSimulatedPostgres(options: SimulatedPostgresOptions): SimulatedPostgres {
  const memory = createMemoryLedger({ declaration: options.rules.declaration, clock: options.clock })
  const state: State = {
    ...options,
    memory,
    judged: [],
    created: new Map(),
    quotes: [],
    settings: [],
    leases: new Map(),
    ended: new Set(),
    sent: new Map(),
    presentations: new Map(),
    scans: new Map(),
    open: [],
    followedTo: 0,
    position: 0,
  }
  return {
    memory,
    judged: state.judged,
    streams: () => [...state.created.values()].map(({ id }) => id),
    execute(statement) {
      const [, answer] = answers.find(([pattern]) => pattern.test(statement.text)) ?? []
      return assertPresent(answer, `the simulated Postgres knows the statement ${statement.text}`)(state, statement)
    },
  }
}

/** The first pattern that fits a statement answers it. */
const answers: readonly (readonly [RegExp, Answer])[] = [
  [/from ledger\.append_batch\(/, append],
  [/from ledger\.read\(/, ({ memory }, { values }) => readStream(memory, bytesOf(values[0]))],
  [
    /from ledger\.read_many\(/,
    ({ memory }, { values }) =>
      elements(Buffer.from(bytesOf(values[0]))).flatMap((id) =>
        readStream(memory, assertPresent(id, 'an id is not null')),
      ),
  ],
  [/ledger\.record_quotes\(/, ({ quotes }, { values }) => recordQuotes(quotes, values)],
  [/ledger\.find_open_quote\(/, ({ quotes }, { values }) => findOpenQuote(quotes, values)],
  [/ledger\.find_bound_quote\(/, ({ quotes }, { values }) => findBoundQuote(quotes, values)],
  [/ledger\.setting_at\(/, settingAt],
  [
    /select "body" from "ledger"\."settings"/,
    ({ settings }, { values }) => settings.filter(({ name, number }) => name === values[0] && number === values[1]),
  ],
  [/from "ledger"\."settings" where "name" = \$1 order by "number" desc/, newestSetting],
  [/select note, sent_at is not null as is_sent from ledger\.notes/, findStored],
  [/ledger\.end_notes\(/, endNotes],
  [/ledger\.mark_notes\(/, markNotes],
  [/work\.record_presentation\(/, recordPresentation],
  [/from "work"\."presentations" where "reference" = /, findPresentation],
  [/from "work"\."presentations" where "reference" in/, findPresented],
  [/from ledger\.keys k left join ledger\.notes n/, findKey],
  [/from "work"\."open"/, findOpen],
  [/work\.follow\(/, follow],
  [/from "ledger"\."streams" where "id" in/, findStreams],
  [
    /from "ledger"\."accounts"/,
    ({ memory }, { values }) => [{ balance: memory.balance(String(values[0]), String(values[1])).toString() }],
  ],
  [
    /from "paywall"\."transfer_scans"/,
    ({ scans }, { values }) => [scans.get(String(values[0]))].filter((row) => row !== undefined),
  ],
  [/paywall\.move_transfer_scan\(/, moveScan],
  [/work\.take_lease\(/, takeLease],
  [/work\.renew_lease\(/, renewLease],
  [/work\.end_lease\(/, endLease],
]

function append(state: State, { values }: Statement): readonly object[] {
  const items = itemsOfCall(values)
  const atMs = Math.floor(state.clock.nowMs())
  const before = state.position
  const results = items.map((item) => judge(state, item, atMs))
  const taken = results.filter((result) => result.outcome === 'appended')
  const refusals = results.map((result) => (result.outcome === 'appended' ? null : refusalText(result)))
  const recordedAtMs = taken[0]?.recordedAtMs ?? atMs
  const hashes = taken.flatMap(({ leaves }) => leaves.map(({ leafHash }) => leafHash)).join('')
  return [[recordedAtMs, before + 1, taken.length === items.length ? null : refusals, hashes]]
}

/** In the order of a batch. `memoryLedger` decides before its promise resolves, so nothing comes between. */
function judge(state: State, item: Item, atMs: number): AppendResult {
  const result = state.memory.appendNow(item)
  state.judged.push({ item, atMs, result })
  if (result.outcome !== 'appended') return result
  const first = assertPresent(result.leaves[0], 'an append has an event')
  state.position = assertPresent(result.leaves.at(-1), 'an append has an event').position
  const key = streamKey(item.stream)
  if (!state.created.has(key))
    state.created.set(key, { id: item.stream, position: first.position, atMs: result.recordedAtMs })
  noteSetting(state, item)
  return result
}

const settingText = /^(?<name>[^#]+)#(?<number>\d+)$/

function noteSetting({ settings, rules }: State, { stream, events }: Item): void {
  const space = rules.declaration.kinds.find(({ isSetting }) => isSetting)?.space
  const [event] = events
  if (stream[0] !== space || event === undefined) return
  const { name, number } = settingText.exec(Buffer.from(stream.subarray(1)).toString('utf8'))?.groups ?? {}
  if (name === undefined) return
  settings.push({ name, number: Number(number), validFromMs: event.effectiveAtMs, body: event.body })
}

function refusalText(result: AppendResult): string {
  assert(result.outcome === 'refused', 'it is refused')
  return result.refusal.reason === 'limit' ? `limit ${result.refusal.account}` : result.refusal.reason
}

function readStream(memory: MemoryLedger, id: Uint8Array): readonly object[] {
  return memory.readNow(id).map((event) => ({
    id: Buffer.from(id),
    seq: event.position,
    version: event.version,
    kind: event.kind,
    schemaVersion: event.schemaVersion,
    recordedAt: new Date(event.recordedAtMs),
    effectiveAt: new Date(event.effectiveAtMs),
    body: Buffer.from(event.body),
    leafHash: event.leafHash,
  }))
}

function newestFirst(settings: readonly SettingRow[], name: unknown): readonly SettingRow[] {
  return settings.filter((row) => row.name === name).toSorted((one, other) => other.number - one.number)
}

function settingAt({ settings }: State, { values }: Statement): readonly object[] {
  const rows = newestFirst(settings, values[0])
  const found = rows.find(({ validFromMs }) => validFromMs <= timeOf(values[1])) ?? rows.at(-1)
  return found === undefined ? [] : [found]
}

function newestSetting({ settings }: State, { values }: Statement): readonly object[] {
  const [row] = newestFirst(settings, values[0])
  return row === undefined ? [] : [{ ...row, valid_from: new Date(row.validFromMs) }]
}

function findKey({ memory }: State, { values }: Statement): readonly object[] {
  const used = memory.findKey({ space: Number(values[0]), key: bytesOf(values[1]) })
  if (used === undefined) return []
  const note = memory.note(used.stream)
  return [
    {
      id: Buffer.from(used.stream),
      digest: used.digest === undefined ? null : Buffer.from(used.digest),
      note: note === undefined ? null : Buffer.from(note),
    },
  ]
}

function findStored({ memory, ended, sent, clock }: State, { values }: Statement): readonly object[] {
  const id = bytesOf(values[0])
  const key = streamKey(id)
  const note = memory.note(id)
  const sentAtMs = sent.get(key)
  const isOver = sentAtMs !== undefined && sentAtMs <= clock.nowMs() - Number(values[1]) * 1000
  if (note === undefined || ended.has(key) || isOver) return []
  return [{ note: Buffer.from(note), is_sent: sentAtMs !== undefined }]
}

function endNotes({ ended }: State, { values }: Statement): readonly object[] {
  for (const id of elements(Buffer.from(bytesOf(values[0])))) if (id !== undefined) ended.add(streamKey(id))
  return []
}

function markNotes({ sent, clock }: State, { values }: Statement): readonly object[] {
  for (const id of elements(Buffer.from(bytesOf(values[0])))) {
    if (id === undefined || sent.has(streamKey(id))) continue
    sent.set(streamKey(id), clock.nowMs())
  }
  return []
}

interface PresentationRow {
  readonly id: Uint8Array
  readonly presented_at: Date
  readonly last_valid_height: number
}

function recordPresentation({ presentations }: State, { values }: Statement): readonly object[] {
  const [id, wallet, presentedAt, height] = values
  const key = `${String(wallet)} ${streamKey(bytesOf(id))}`
  const row: PresentationRow = presentations.get(key) ?? {
    id: bytesOf(id),
    presented_at: new Date(timeOf(presentedAt)),
    last_valid_height: Number(height),
  }
  presentations.set(key, row)
  return [row]
}

function findPresentation({ presentations }: State, { values }: Statement): readonly object[] {
  const row = presentations.get(`${String(values[1])} ${streamKey(bytesOf(values[0]))}`)
  return row === undefined ? [] : [row]
}

function findPresented({ presentations }: State, { values }: Statement): readonly object[] {
  const wanted = new Set(values.map((value) => streamKey(bytesOf(value))))
  return [...presentations.values()]
    .filter(({ id }) => wanted.has(streamKey(id)))
    .map(({ id }) => ({ reference: Buffer.from(id) }))
}

const leaseMaxMs = 10 * 60_000

function findOpen({ open, clock }: State, { text, values }: Statement): readonly object[] {
  const queue = String(values[0])
  const max = Number(values.at(-1))
  const nowMs = clock.nowMs()
  const isDue = ({ dueAtMs }: OpenWork) => {
    // A lease so far ahead began before the clock of the database went back.
    if (queue === 'lease') return dueAtMs <= nowMs || dueAtMs > nowMs + leaseMaxMs
    if (queue === 'submitted') return dueAtMs > nowMs - Number(values[1])
    return queue !== 'undelivered' || dueAtMs <= nowMs - Number(values[1])
  }
  const isAfter = ({ dueAtMs, position }: OpenWork) => {
    if (!text.includes('(due_at, stream) >')) return true
    const afterMs = timeOf(values.at(-3))
    return dueAtMs > afterMs || (dueAtMs === afterMs && position > Number(values.at(-2)))
  }
  return open
    .filter((work) => work.queue === queue && isDue(work) && isAfter(work))
    .toSorted((one, other) => one.dueAtMs - other.dueAtMs || one.position - other.position)
    .slice(0, max)
    .map(({ id, dueAtMs, position }) => ({ id: Buffer.from(id), due_at: new Date(dueAtMs), stream: position }))
}

/** The whole table at once, from the states of the streams. */
function follow(state: State): readonly object[] {
  const { rules, created, memory, position } = state
  const followed = position - state.followedTo
  state.open = [...created.values()].flatMap(({ id, position: first, atMs }) => {
    const stream = assertPresent(memory.stateOf(id), 'a stream that was created exists')
    return rules.work
      .filter(({ kind, state: name }) => kind === stream.kind && name === stream.state)
      .map(({ queue, due }) => ({
        id,
        queue,
        position: first,
        dueAtMs: due === 'lease' ? assertPresent(stream.leaseUntilMs, 'a claimed stream has a lease') : atMs,
      }))
  })
  state.followedTo = position
  return [{ followed, behind: followed }]
}

function findStreams({ memory }: State, { values }: Statement): readonly object[] {
  return values.flatMap((value) => {
    const id = bytesOf(value)
    const stream = memory.stateOf(id)
    return stream === undefined ? [] : [{ id: Buffer.from(id), kind: stream.kind, state: stream.state }]
  })
}

/** A leader that was replaced writes nothing. */
function moveScan({ scans, leases }: State, { values }: Statement): readonly object[] {
  const [name, epoch, account, signature, slot] = values
  if (typeof name === 'string' && leases.get(name)?.epoch !== Number(epoch))
    throw new Error('another instance has taken the lease')
  const known = scans.get(String(account))
  if (known === undefined || Number(slot) >= known.slot)
    scans.set(String(account), { signature: String(signature), slot: Number(slot) })
  return []
}
