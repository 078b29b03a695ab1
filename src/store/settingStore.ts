import { assert } from '@tollbook/core/assert'
import type { Item } from '@tollbook/ledger/item'
import type { LedgerKernel } from '@tollbook/ledger/port'
import { createEventCodec } from '../payment/eventCodec.ts'
import type { SettingEvent } from '../payment/events.ts'
import { type SettingChanged, settingEvents } from '../payment/events/settingEvents.ts'
import { periodsOf, type RecordedSetting, type SettingPeriod } from '../settings/settingPeriods.ts'
import {
  decideFirstSetting,
  type SettingDecision,
  settingStream,
  settingStreamId,
  type SettingValue,
} from '../settings/settings.ts'
import { type Database, readRows } from './database.ts'
import { itemEvent, textOf } from './paymentItem.ts'

/**
 * Settings of the ledger with their validity periods. For example, a receipt is checked with the key that was valid on
 * its day.
 */
export interface SettingStore {
  /** Returns the first value if none was in force yet, because a first value also holds for the time before it. */
  find(name: string, atMs: number): Promise<SettingChanged | undefined>
  /**
   * Returns all versions of these settings by name, oldest first. A name that ends with `/` selects all names that
   * begin with it.
   */
  versions(names: readonly string[]): Promise<SettingVersions>
  /**
   * Records each value as the first one of its setting. Skips a setting that has a value, because only an operator may
   * change it.
   */
  record(values: readonly SettingValue[]): Promise<void>
}

export type SettingVersions = ReadonlyMap<string, readonly RecordedSetting[]>

export interface SettingDeps {
  readonly database: Database
  readonly kernel: LedgerKernel
  readonly nowMs: () => number
}

export function createSettingStore(deps: SettingDeps): SettingStore {
  const { database } = deps
  return {
    versions: (names) => readVersions(database, names),
    find: (name, atMs) => findSetting(database, name, atMs),
    async record(values) {
      for (const value of values) await recordFirst(deps, value)
    },
  }
}

const codec = createEventCodec<SettingEvent>(settingEvents)

/** Dates the event at its `validFrom` and not when it is recorded, so that instances can be replaced in between. */
export function encodeSetting({ name, number, events: [event] }: SettingDecision<SettingChanged>): string {
  const effectiveAtMs = Date.parse(event.validFrom)
  return codec.encode(event, { stream: settingStream(name, number), version: 1, effectiveAtMs })
}

/** Throws for a body that does not parse, which is a bug or a tampered row. */
export function decodeSetting(body: Uint8Array) {
  return codec.decode(textOf(body))
}

/** Adds a guard on the previous version, so that the numbers have no gaps. */
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
  const rows = await readRows(database, 'a setting of the ledger')<{
    body: Buffer
  }>`select body from ledger.setting_at(${name}, ${new Date(atMs)})`
  return rows[0] === undefined ? undefined : settingOf(rows[0].body)
}

/**
 * Reads the versions of settings. A name that ends with `/` selects all names that begin with it. A name without
 * versions has an empty list.
 */
export async function readVersions(database: Database, names: readonly string[]): Promise<SettingVersions> {
  if (names.length === 0) return new Map()
  const prefixes = names.filter((name) => name.endsWith('/')).map((prefix) => `${prefix}%`)
  const rows = await readRows(database, 'the settings of the ledger')<{ name: string; seq: number; body: Buffer }>`
    select name, seq, body from ledger.settings
    where name = any(${names}::text[]) or name like any(${prefixes}::text[])
    order by name, number`
  const versions = new Map<string, RecordedSetting[]>(names.map((name) => [name, []]))
  for (const { name, seq, body } of rows) {
    const known = versions.get(name) ?? []
    versions.set(name, known)
    known.push({ position: seq, event: settingOf(body) })
  }
  return versions
}

export async function readPeriods(database: Database, names: readonly string[]): Promise<readonly SettingPeriod[]> {
  return [...(await readVersions(database, names)).values()].flatMap(periodsOf)
}

function settingOf(body: Uint8Array): SettingChanged {
  const { event } = decodeSetting(body)
  assert(event.kind === 'SettingChanged', 'a setting holds its value')
  return event
}

/** Records the value unless the setting has one. If another instance was first, the caller compares both values. */
async function recordFirst({ database, kernel, nowMs }: SettingDeps, value: SettingValue): Promise<void> {
  const versions = await readVersions(database, [value.name])
  const atMs = nowMs()
  const decision = decideFirstSetting(versions.get(value.name)?.length ?? 0, value, atMs)
  if (decision === undefined) return
  const result = await kernel.append(settingItem(decision, atMs))
  if (result.outcome === 'appended') return
  assert(result.refusal.reason === 'conflict', `a setting is not refused as ${result.refusal.reason}`)
}
