import { assert } from '@tollbook/core/assert'
import { canonicalText, type Json } from '@tollbook/core/canonicalJson'
import { isoTime } from '@tollbook/core/clock'
import type { PriceListPublished, SettingChanged, SplitPart } from '../payment/events/settingEvents.ts'

/*
 * A version can be recorded only after the version before it. The numbers therefore have no gap, and two writers cannot
 * record the same number.
 */

/** First byte of the stream ids of settings (migrations/kinds). */
const settingSpace = 3
export const priceListName = 'prices'

/** The stream of a version has one event, so only one writer can record a version. */
export function settingStream(name: string, number: number): string {
  assert(Number.isSafeInteger(number) && number > 0, 'versions of a setting count from 1')
  return `${name}#${number}`
}

export function settingStreamId(name: string, number: number): Uint8Array {
  return Uint8Array.of(settingSpace, ...new TextEncoder().encode(settingStream(name, number)))
}

export interface SettingDecision<Event> {
  readonly step: 'price_list.publish' | 'setting.record' | 'setting.change'
  readonly name: string
  readonly number: number
  readonly events: readonly [Event]
}

export interface Numbered<Event> {
  readonly number: number
  readonly event: Event
}

export function isWhole(split: readonly SplitPart[]): boolean {
  return split.reduce((sum, { perMille }) => sum + perMille, 0) === 1_000
}

/** Undefined if the newest recorded list is the same. */
export function decidePriceList(
  newest: Numbered<PriceListPublished> | undefined,
  list: PriceListPublished,
): SettingDecision<PriceListPublished> | undefined {
  assert(isWhole(list.split), 'the split of a price list is the whole of each price')
  if (newest !== undefined && canonicalText(newest.event) === canonicalText(list)) return undefined
  const number = (newest?.number ?? 0) + 1
  return { step: 'price_list.publish', name: priceListName, number, events: [list] }
}

export interface SettingValue {
  readonly name: string
  readonly value: Json
}

/** The service itself records the first value. Undefined if the setting is already recorded. */
export function decideFirstSetting(
  versionCount: number,
  { name, value }: SettingValue,
  validFromMs: number,
): SettingDecision<SettingChanged> | undefined {
  assert(name !== priceListName && !name.includes('#'), 'a setting has a name')
  if (versionCount > 0) return undefined
  const changed: SettingChanged = { kind: 'SettingChanged', name, number: 1, validFrom: isoTime(validFromMs), value }
  return { step: 'setting.record', name, number: 1, events: [changed] }
}
