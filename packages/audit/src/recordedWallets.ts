import { UsageError } from './commandArguments.ts'
import type { Findings } from './findings.ts'
import { clocksDifferMaxMs, type SettingPeriods } from './settingPeriods.ts'

/** Payment wallets by period: those that the ledger has on record, or the auditor's own if there are none. */
export class RecordedWallets {
  readonly #periods: SettingPeriods
  readonly #given: string | undefined

  constructor(periods: SettingPeriods, given: string | undefined) {
    this.#periods = periods
    this.#given = given
  }

  /** Returns the wallets that a payment of this time may go to, newest first. */
  acceptedAt(atMs: number): readonly string[] {
    return this.#select(({ fromMs, untilMs }) => fromMs - clocksDifferMaxMs <= atMs && atMs < untilMs)
  }

  /** Returns the wallets that may pay at this time. An old wallet keeps paying until it is empty. */
  payingAt(atMs: number): readonly string[] {
    return this.#select(({ fromMs }) => fromMs - clocksDifferMaxMs <= atMs)
  }

  all(): readonly string[] {
    return this.#select(() => true)
  }

  /** Checks after the last event that the auditor's wallet is one of the recorded wallets. */
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
    // Deposits on tabs go to their own wallet, which belongs to the same accounts.
    const deposits = this.#periods.of('tab-wallet').map(({ text }) => text)
    const wallets = periods.filter(isWanted).map(({ text }) => text)
    return [...new Set([...wallets.toReversed(), ...deposits])]
  }
}

function noWallet(): never {
  throw new UsageError('--payment-wallet: is missing; the ledger has no payment wallet on record')
}
