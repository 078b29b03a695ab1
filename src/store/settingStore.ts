import { sql } from 'kysely'
import { assert } from '@tollbook/core/assert'
import type { Item } from '@tollbook/ledger/item'
import type { LedgerKernel } from '@tollbook/ledger/port'
import { createEventCodec } from '../payment/eventCodec.ts'
import type { SettingEvent } from '../payment/events.ts'
import { type SettingChanged, settingEvents } from '../payment/events/settingEvents.ts'
import {
  decideSetting,
  type Numbered,
  type SettingDecision,
  settingStream,
  settingStreamId,
  type SettingValue,
} from '../payment/settings.ts'
import type { Log } from '../primitives/log.ts'
import { type Database, readOrFault } from './database.ts'
import { itemEvent, textOf } from './paymentItem.ts'

/** Settings of the ledger: recorded with their period of validity, because a receipt is checked by the key of its day. */
export interface SettingStore {
  /** The setting in force at that moment; its first value, if none was in force yet. */
  find(name: string, atMs: number): Promise<SettingChanged | undefined>
  /** Records values that the ledger does not have. Reports each value that differs from the one on record. */
  record(values: readonly SettingValue[]): Promise<void>
}

export interface SettingDeps {
  readonly database: Database
  readonly kernel: LedgerKernel
  readonly log: Log
  readonly nowMs: () => number
}

export function createSettingStore(deps: SettingDeps): SettingStore {
  return {
    find: (name, atMs) => findSetting(deps.database, name, atMs),
    async record(values) {
      for (const value of values) await recordSetting(deps, value)
    },
  }
}

const codec = createEventCodec<SettingEvent>(settingEvents)

export function decodeSetting(body: Uint8Array) {
  return codec.decode(textOf(body))
}

/** One version of a setting; the guard on the version before it keeps the numbers without a gap. */
export function settingItem(decision: SettingDecision<SettingEvent>, effectiveAtMs: number): Item {
  const { step, name, number, events } = decision
  assert(Number.isSafeInteger(effectiveAtMs), 'a setting has a moment from which it holds')
  const header = { stream: settingStream(name, number), version: 1, effectiveAtMs }
  const guards = number === 1 ? [] : [{ stream: settingStreamId(name, number - 1), version: 1 }]
  return {
    stream: settingStreamId(name, number),
    step,
    expectedVersion: 0,
    events: events.map((event) => itemEvent(codec, event, header)),
    guards,
  }
}

async function findSetting(database: Database, name: string, atMs: number): Promise<SettingChanged | undefined> {
  const { rows } = await readOrFault('a setting of the ledger', () =>
    sql<{ body: Buffer }>`select body from ledger.setting_at(${name}, ${new Date(atMs)})`.execute(database),
  )
  return rows[0] === undefined ? undefined : settingOf(rows[0].body)
}

async function newestSetting(database: Database, name: string): Promise<Numbered<SettingChanged> | undefined> {
  const row = await readOrFault('the newest value of a setting', () =>
    database
      .selectFrom('ledger.settings')
      .select(['number', 'body'])
      .where('name', '=', name)
      .orderBy('number', 'desc')
      .limit(1)
      .executeTakeFirst(),
  )
  return row === undefined ? undefined : { number: row.number, event: settingOf(row.body) }
}

function settingOf(body: Uint8Array): SettingChanged {
  const { event } = decodeSetting(body)
  assert(event.kind === 'SettingChanged', 'a setting holds its value')
  return event
}

/** Another instance that starts at the same time may be first: its value is then compared with ours. */
async function recordSetting(deps: SettingDeps, value: SettingValue): Promise<void> {
  const nowMs = deps.nowMs()
  const newest = await newestSetting(deps.database, value.name)
  const decision = decideSetting(newest, value, nowMs)
  if (decision === undefined) return
  if (decision.step === 'setting.record') {
    const result = await deps.kernel.append(settingItem(decision, nowMs))
    if (result.outcome === 'appended') return
    assert(result.refusal.reason === 'conflict', `a setting is not refused as ${result.refusal.reason}`)
    if (decideSetting(await newestSetting(deps.database, value.name), value, nowMs) === undefined) return
  }
  deps.log.warn({ event: 'setting_differs', name: value.name, recorded: newest?.event.value, configured: value.value })
}
