import { assert } from '@tollbook/core/assert'
import type { Json } from '@tollbook/core/canonicalJson'
import { isoTime } from '@tollbook/core/clock'
import type { SettingChanged } from '../payment/events/settingEvents.ts'
import { isSameValue, type SettingPeriod, valueWithOverlap } from './settingPeriods.ts'
import type { SettingDecision } from './settings.ts'
import type { PaymentWalletName, tabWalletName } from './walletSettings.ts'

/** Every other setting keeps its first value. */
export type ChangeableSetting = 'receipt-key' | PaymentWalletName | typeof tabWalletName | 'split'

export interface SettingChangeQuestion {
  readonly name: ChangeableSetting
  readonly value: Json
  /** Undefined: default lead. A split applies at once, because an instance publishes its price list at its start. */
  readonly validFromMs: number | undefined
  /** The previous value is still accepted for this time after the change. */
  readonly overlapMs: number
  readonly nowMs: number
}

/** `recorded`: no change is necessary. `refused`: `why` is a sentence for the operator. */
export type SettingChangeVerdict =
  | { readonly verdict: 'change'; readonly decision: SettingDecision<SettingChanged>; readonly previousUntilMs: number }
  | { readonly verdict: 'recorded'; readonly period: SettingPeriod }
  | { readonly verdict: 'refused'; readonly why: string }

/**
 * Running instances read the settings every 5 s, and close after 45 s without a successful read. An instance therefore
 * knows a change before the change takes effect, or has closed. No receipt is signed with an ended key.
 */
const leadMinMs = 60_000
/** Verifiers cache the key set for 5 minutes. */
const leadDefaultMs = 300_000
const leadMaxMs = 365 * 24 * 60 * 60 * 1000
export const overlapMaxMs = 90 * 24 * 60 * 60 * 1000

export function decideSettingChange(
  periods: readonly SettingPeriod[],
  question: SettingChangeQuestion,
): SettingChangeVerdict {
  const { name, value, overlapMs, nowMs } = question
  assert(overlapMs >= 0, 'an overlap is a duration')
  const newest = periods.at(-1)
  if (newest === undefined)
    return refused(`the ledger has no ${name} yet; the service records the first value when it starts`)
  if (isSameValue(name, newest.value, value)) return { verdict: 'recorded', period: newest }
  const earlier = periods.find((period) => isSameValue(name, period.value, value))
  if (name === 'receipt-key' && earlier !== undefined)
    return refused(`the key was ${name}#${earlier.number} and is not used again; make one with \`tollbook key new\``)
  const validFromMs = name === 'split' ? nowMs : wholeSecond(question.validFromMs ?? nowMs + leadDefaultMs)
  const problem = timeProblem(question, validFromMs, newest)
  if (problem !== undefined) return refused(problem)
  const previousUntilMs = wholeSecond(validFromMs + overlapMs)
  const [number, validFrom] = [newest.number + 1, isoTime(validFromMs)]
  const changed: SettingChanged = {
    kind: 'SettingChanged',
    name,
    number,
    validFrom,
    value: valueWithOverlap(name, value, isoTime(previousUntilMs)),
  }
  return { verdict: 'change', decision: { step: 'setting.change', name, number, events: [changed] }, previousUntilMs }
}

function timeProblem(
  { name, overlapMs, nowMs }: SettingChangeQuestion,
  validFromMs: number,
  newest: SettingPeriod,
): string | undefined {
  const leadMs = validFromMs - nowMs
  if (name !== 'split' && leadMs < leadMinMs)
    return `${isoTime(validFromMs)} is less than ${leadMinMs / 1000} s from now (${isoTime(nowMs)}); running instances have to read the change before it takes effect`
  if (leadMs > leadMaxMs) return `${isoTime(validFromMs)} is more than a year from now`
  if (validFromMs < Date.parse(newest.validFrom))
    return `${name}#${newest.number} takes effect at ${newest.validFrom}; a later version cannot take effect before it`
  return overlapMs > overlapMaxMs ? `the overlap is longer than ${overlapMaxMs / 86_400_000} days` : undefined
}

/** Rounds up to whole seconds, the unit of JWK periods, so that a change never takes effect too early. */
function wholeSecond(ms: number): number {
  return Math.ceil(ms / 1000) * 1000
}

function refused(why: string): SettingChangeVerdict {
  return { verdict: 'refused', why }
}
