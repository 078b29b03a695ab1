import type { Findings } from './findings.ts'
import { type AuditState, StateDocument } from './auditState.ts'
import { mayChange, readSettingValue } from './settingValues.ts'
import { type AuditedSplit, describeSplit } from './split.ts'

/**
 * A value of a setting with its period: from <= time < until. Two periods overlap while the operator replaces the
 * instances of the service.
 */
export interface SettingPeriod {
  readonly number: number
  readonly text: string
  readonly position: number
  readonly fromMs: number
  readonly untilMs: number
}

interface Place {
  readonly position: number
}

interface RecordedValue {
  readonly name: string
  readonly number: number
  readonly text: string
  readonly position: number
  readonly validFromMs: number
  readonly previousUntilMs: number
}

/**
 * Consecutive price lists with equal splits. Only the first and the last list are stored, so that the memory does not
 * grow with the number of lists.
 */
interface SplitRun {
  readonly text: string
  readonly firstPosition: number
  readonly firstAtMs: number
  lastPosition: number
  lastAtMs: number
}

interface RecordedSetting {
  readonly stream: string
  readonly name: string
  readonly number: number
  readonly validFrom: number
  readonly value: unknown
}

const recorded = new StateDocument('settingPeriods', (): { values: RecordedValue[]; splitRuns: SplitRun[] } => {
  return { values: [], splitRuns: [] }
})

/** Largest accepted difference between the clocks of instances, of the database and of blocks. */
export const clocksDifferMaxMs = 300_000

export class SettingPeriods {
  readonly #findings: Findings
  readonly #values: RecordedValue[]
  readonly #splitRuns: SplitRun[]

  constructor(findings: Findings, state: AuditState) {
    this.#findings = findings
    const { values, splitRuns } = recorded.of(state)
    this.#values = values
    this.#splitRuns = splitRuns
  }

  /**
   * Returns every period of a setting, in the order of recording. The next value determines when the period of a value
   * ends.
   */
  of(name: string): readonly SettingPeriod[] {
    const values = this.#values.filter((value) => value.name === name)
    return values.map(({ number, text, position, validFromMs }, index) => ({
      number,
      text,
      position,
      // The first value also applies to times before it was recorded.
      fromMs: index === 0 ? -Infinity : validFromMs,
      untilMs: values[index + 1]?.previousUntilMs ?? Infinity,
    }))
  }

  ofAll(prefix: string): readonly SettingPeriod[] {
    const names = this.#values.map(({ name }) => name).filter((name) => name.startsWith(prefix))
    return [...new Set(names)].flatMap((name) => this.of(name))
  }

  record({ name, number, validFrom: validFromMs, value, stream }: RecordedSetting, { position }: Place): void {
    const blame = (message: string) =>
      this.#findings.add('setting_wrong', { position, subject: stream, message: `${name}: ${message}` })
    if (number > 1 && !mayChange(name)) blame('this setting never changes')
    const read = readSettingValue(name, value)
    if (read === undefined) return
    if (typeof read === 'string') return blame(read)
    const { text, previousUntilMs = validFromMs } = read
    const before = this.#values.filter((known) => known.name === name)
    const newest = before.at(-1)
    if (newest !== undefined && validFromMs < newest.validFromMs) blame('it holds before the value in front of it')
    if (previousUntilMs < validFromMs) blame('the value before ends before this one holds')
    if (name === 'receipt-key' && before.some((known) => known.text === text)) blame('a retired key is used again')
    this.#values.push({ name, number, text, position, validFromMs, previousUntilMs })
  }

  /**
   * Notes the split of a price list. `judgeSplits` compares it after the last event, because the setting may be
   * recorded after the list.
   */
  noteSplit(split: AuditedSplit, { position, recordedAtMs }: Place & { readonly recordedAtMs: number }): void {
    const text = describeSplit(split)
    const last = this.#splitRuns.at(-1)
    if (last?.text === text) {
      last.lastPosition = position
      last.lastAtMs = recordedAtMs
    } else {
      this.#splitRuns.push({
        text,
        firstPosition: position,
        firstAtMs: recordedAtMs,
        lastPosition: position,
        lastAtMs: recordedAtMs,
      })
    }
  }

  judgeSplits(): void {
    const periods = this.of('split')
    if (periods.length === 0) return
    for (const { text, firstPosition, firstAtMs, lastPosition, lastAtMs } of this.#splitRuns) {
      const own = periods.filter((period) => period.text === text)
      const places = [
        [firstPosition, firstAtMs],
        [lastPosition, lastAtMs],
      ] as const
      const wrong = places.find(([, atMs]) => !own.some((period) => isAccepted(period, atMs)))
      if (wrong === undefined) continue
      const message = `the price list divides as ${text}, and the split on record for its time does not`
      this.#findings.add('split_wrong', { position: wrong[0], subject: 'split', message })
    }
  }
}

function isAccepted({ fromMs, untilMs }: SettingPeriod, atMs: number): boolean {
  return fromMs - clocksDifferMaxMs <= atMs && atMs < untilMs + clocksDifferMaxMs
}
