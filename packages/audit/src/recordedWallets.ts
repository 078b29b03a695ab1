import { UsageError } from './commandArguments.ts'
import type { Findings } from './findings.ts'
import { clocksDifferMaxMs, type SettingPeriods } from './settingPeriods.ts'

/** Wallets that were paid, by period: those that the ledger has on record, or the auditor's own if it has none. */
export class RecordedWallets {
  readonly #periods: SettingPeriods
  readonly #given: string | undefined

  constructor(periods: SettingPeriods, given: string | undefined) {
    this.#periods = periods
    this.#given = given
  }

  /** Wallets that a payment of that time may go to, the newest first. */
  acceptedAt(atMs: number): readonly string[] {
    return this.#select(({ fromMs, untilMs }) => fromMs - clocksDifferMaxMs <= atMs && atMs < untilMs)
  }

  /** Wallets that tokens may leave at that time: an old wallet pays until it is empty. */
  payingAt(atMs: number): readonly string[] {
    return this.#select(({ fromMs }) => fromMs - clocksDifferMaxMs <= atMs)
  }

  all(): readonly string[] {
    return this.#select(() => true)
  }

  /** The ledger ends here: is the auditor's wallet one of its wallets? */
  judgeGiven(findings: Findings): void {
    const periods = this.#periods.of('payment-wallet')
    if (this.#given === undefined || periods.length === 0 || periods.some(({ text }) => text === this.#given)) return
    const recorded = [...new Set(periods.map(({ text }) => text))].join(', ')
    const message = `${this.#given} is paid, and the ledger has ${recorded} on record`
    findings.add('setting_wrong', { position: periods.at(-1)?.position, subject: 'payment-wallet', message })
  }

  #select(isWanted: (period: { readonly fromMs: number; readonly untilMs: number }) => boolean): readonly string[] {
    const periods = this.#periods.of('payment-wallet')
    if (periods.length === 0) return [this.#given ?? noWallet()]
    const wallets = periods.filter(isWanted).map(({ text }) => text)
    return [...new Set(wallets.toReversed())]
  }
}

function noWallet(): never {
  throw new UsageError('--payment-wallet: is missing; the ledger has no payment wallet on record')
}
