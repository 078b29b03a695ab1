import { type Address, readAddress } from '@tollbook/core/address'
import { assert, assertPresent } from '@tollbook/core/assert'
import { canonicalJson, type Json } from '@tollbook/core/canonicalJson'
import type { SettingChanged } from '../payment/events/settingEvents.ts'
import { isWalletSetting } from './walletSettings.ts'

/*
 * A value takes effect at its `validFrom`. The value before it stays accepted until `previousUntil`, so that instances
 * can be replaced one by one.
 */

export interface RecordedSetting {
  readonly position: number
  readonly event: SettingChanged
}

/** The value is accepted while `fromMs <= t < untilMs`. */
export interface SettingPeriod {
  readonly name: string
  readonly number: number
  readonly position: number
  /** The recorded value without the member `previousUntil`. */
  readonly value: Json
  /** As recorded, in ISO 8601 and UTC. */
  readonly validFrom: string
  /** `-Infinity` for number 1, because the first value also applies to the time before its record. */
  readonly fromMs: number
  /** `Infinity` for the newest value. */
  readonly untilMs: number
}

/** The oldest period comes first. */
export function periodsOf(versions: readonly RecordedSetting[]): readonly SettingPeriod[] {
  return versions.map(({ position, event }, index): SettingPeriod => {
    assert(event.number === index + 1, 'the versions of a setting are numbered without a gap')
    const next = versions[index + 1]?.event
    return {
      name: event.name,
      number: event.number,
      position,
      value: plainValue(event),
      validFrom: event.validFrom,
      fromMs: index === 0 ? -Infinity : Date.parse(event.validFrom),
      untilMs: next === undefined ? Infinity : previousUntilMs(next),
    }
  })
}

/** Returns the member that wraps a value which is not an object, so that `previousUntil` can be added. */
function wrappingMember(name: string): string | undefined {
  return isWalletSetting(name) ? 'wallet' : name === 'split' ? 'shares' : undefined
}

/** Every version except the first has this form, which includes the end of the previous value. */
export function valueWithOverlap(name: string, value: Json, previousUntil: string): Json {
  assert(!Number.isNaN(Date.parse(previousUntil)), 'the value before it ends at a time')
  const member = wrappingMember(name)
  if (member !== undefined) return { [member]: value, previousUntil }
  return { ...assertPresent(membersOf(value), `${name} can be wrapped`), previousUntil }
}

function plainValue({ name, value }: SettingChanged): Json {
  const members = membersOf(value)
  if (members?.['previousUntil'] === undefined) return value
  const { previousUntil: _previousUntil, ...rest } = members
  const member = wrappingMember(name)
  return member === undefined ? rest : (rest[member] ?? null)
}

function previousUntilMs({ validFrom, value }: SettingChanged): number {
  const until = membersOf(value)?.['previousUntil']
  const untilMs = typeof until === 'string' ? Date.parse(until) : Number.NaN
  return Number.isNaN(untilMs) ? Date.parse(validFrom) : Math.max(untilMs, Date.parse(validFrom))
}

function membersOf(value: Json): { readonly [key: string]: Json } | undefined {
  return typeof value === 'object' && value !== null && !isList(value) ? value : undefined
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}

/** For a receipt key, only the key material counts, and not the id. */
export function isSameValue(name: string, one: Json, other: Json): boolean {
  return name === 'receipt-key'
    ? membersOf(one)?.['x'] === membersOf(other)?.['x']
    : one === other || textOf(one) === textOf(other)
}

// Every 402 compares each configured value with the recorded one. Value objects never change, so each is serialized
// once.
const texts = new WeakMap<object, string>()

function textOf(value: Json): string {
  if (typeof value !== 'object' || value === null) return canonicalJson(value)
  const text = texts.get(value) ?? canonicalJson(value)
  texts.set(value, text)
  return text
}

/** Undefined if the setting is not recorded. */
export function periodInForce(periods: readonly SettingPeriod[], atMs: number): SettingPeriod | undefined {
  assert(
    periods.every(({ number }, index) => number === index + 1),
    'periods are those of one setting, oldest first',
  )
  return periods.findLast(({ fromMs }) => fromMs <= atMs)
}

/** The end is exclusive. Periods may overlap, because a previous value may stay accepted for a time. */
export function isWithin({ fromMs, untilMs }: Pick<SettingPeriod, 'fromMs' | 'untilMs'>, atMs: number): boolean {
  return fromMs <= atMs && atMs < untilMs
}

export type SettingStanding =
  | { readonly standing: 'unrecorded' }
  /** `untilMs` is `Infinity` unless a later value is recorded. */
  | { readonly standing: 'accepted'; readonly untilMs: number }
  | { readonly standing: 'not_yet'; readonly fromMs: number }
  | { readonly standing: 'differs'; readonly inForce: SettingPeriod }

export function settingStanding(periods: readonly SettingPeriod[], value: Json, atMs: number): SettingStanding {
  const inForce = periodInForce(periods, atMs)
  if (inForce === undefined) return { standing: 'unrecorded' }
  const same = periods.filter((period) => isSameValue(period.name, period.value, value))
  const accepted = same.filter((period) => isWithin(period, atMs))
  if (accepted.length > 0) return { standing: 'accepted', untilMs: Math.max(...accepted.map(({ untilMs }) => untilMs)) }
  const later = same.find(({ fromMs }) => fromMs > atMs)
  return later === undefined ? { standing: 'differs', inForce } : { standing: 'not_yet', fromMs: later.fromMs }
}

/** The newest wallet comes first. If no wallet is recorded, returns the configured one. */
export function walletsOf(periods: readonly SettingPeriod[], configured: Address | undefined): readonly Address[] {
  const wallets = periods.map(walletOf).toReversed()
  return [...new Set(wallets.length === 0 && configured !== undefined ? [configured] : wallets)]
}

export function walletOf({ value }: SettingPeriod): Address {
  const address = typeof value === 'string' ? readAddress(value) : undefined
  return assertPresent(address, 'a wallet on record is an address')
}
