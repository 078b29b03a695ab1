import { findShareProblem, findSplitProblem } from './auditedSplit.ts'
import type { Findings, FindingCode } from './findings.ts'
import type { OtherStreams } from './otherStreams.ts'
import type { Recorded } from './paymentRules.ts'
import type { PublishedPrices } from './publishedPrices.ts'
import type { PriceListEvent, SettingEvent } from './settingEvents.ts'
import type { SettingPeriods } from './settingPeriods.ts'

/** A numbered setting as its event states it, for the comparison with its row. */
export interface SettingSeen {
  readonly name: string
  readonly number: number
  readonly position: number
  readonly validFromMs: number
  /** Digest of the body. */
  readonly digest: number
}

export interface SettingsDeps {
  readonly findings: Findings
  readonly streams: OtherStreams
  readonly prices: PublishedPrices
  readonly periods: SettingPeriods
}

/** Price lists and settings of the ledger: each name counts 1, 2, 3…, one stream for each number. */
export class Settings {
  readonly #deps: SettingsDeps
  readonly #seen: SettingSeen[]
  readonly #newest = new Map<string, number>()

  constructor(deps: SettingsDeps, state: readonly SettingSeen[] = []) {
    this.#deps = deps
    this.#seen = [...state]
    for (const { name, number } of state) this.#newest.set(name, number)
  }

  all(): readonly SettingSeen[] {
    return this.#seen
  }

  publish(event: PriceListEvent, recorded: Recorded, digest: number): void {
    const { stream, effectiveAtMs } = event
    this.#deps.streams.advance(event, recorded, { kind: 'price_list', from: '', to: 'published' })
    const blame = (code: FindingCode, message: string): void => {
      this.#deps.findings.add(code, { position: recorded.position, subject: stream, message })
    }
    const [, digits] = priceListForm.exec(stream) ?? []
    if (digits === undefined) blame('lifecycle_impossible', 'a price list is in another stream')
    const number = Number(digits ?? 0)
    this.#count({ name: 'prices', number, position: recorded.position, validFromMs: effectiveAtMs, digest })
    const split = findSplitProblem(event.split)
    if (split !== undefined) blame('split_wrong', split)
    for (const price of event.prices) {
      const problem = price.problem ?? findShareProblem(price, event.split)
      if (problem !== undefined) blame('price_wrong', `${price.endpoint}: ${problem}`)
    }
    this.#deps.periods.noteSplit(event.split, recorded)
    this.#deps.prices.publish(event, { number, recordedAtMs: recorded.recordedAtMs })
  }

  change(event: SettingEvent, recorded: Recorded, digest: number): void {
    const { stream, name, number, validFromMs, effectiveAtMs } = event
    this.#deps.streams.advance(event, recorded, { kind: 'setting', from: '', to: 'set' })
    const blame = (message: string): void => {
      this.#deps.findings.add('lifecycle_impossible', { position: recorded.position, subject: stream, message })
    }
    if (!nameForm.test(name) || stream !== `${name}#${number}`) blame('a setting is in another stream')
    if (name === 'prices') blame('prices are set by a price list')
    if (validFromMs !== effectiveAtMs) blame('it took effect at another time')
    this.#deps.periods.record(event, recorded)
    this.#count({ name, number, position: recorded.position, validFromMs: effectiveAtMs, digest })
  }

  #count(setting: SettingSeen): void {
    const { name, number, position } = setting
    const last = this.#newest.get(name) ?? 0
    if (number !== last + 1) {
      const message = `number ${number} of ${name} follows ${last}`
      this.#deps.findings.add('version_missing', { position, subject: `${name}#${number}`, message })
    }
    this.#newest.set(name, number)
    this.#seen.push(setting)
  }
}

const priceListForm = /^prices#([1-9]\d{0,8})$/
// One part may follow a slash: `mint/<address>`.
const nameForm = /^[a-z0-9-]{1,40}(?:\/[1-9A-Za-z]{1,44})?$/
