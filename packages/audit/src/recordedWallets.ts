import { UsageError } from './commandArguments.ts'
import type { Findings } from './findings.ts'
import { clocksDifferMaxMs, type SettingPeriod, type SettingPeriods } from './settingPeriods.ts'

const walletName = 'payment-wallet'
type WalletPeriod = Pick<SettingPeriod, 'text' | 'fromMs' | 'untilMs'>

/**
 * Payment wallets by mint and period: those that the ledger has on record, or the auditor's own if there are none. A
 * dollar without a wallet on record is paid to that of the token.
 */
export class RecordedWallets {
  readonly #periods: SettingPeriods
  readonly #given: string | undefined

  constructor(periods: SettingPeriods, given: string | undefined) {
    this.#periods = periods
    this.#given = given
  }

  /** Returns the wallets that a payment in this mint and of this time may go to, newest first. */
  acceptedAt(mint: string, atMs: number): readonly string[] {
    const ofDollar = this.#periods.of(`${walletName}/${mint}`)
    return this.#select(
      ofDollar.length === 0 ? this.#ofToken() : ofDollar,
      ({ fromMs, untilMs }) => fromMs - clocksDifferMaxMs <= atMs && atMs < untilMs,
    )
  }

  /**
   * Returns the wallets that may pay at this time, in any mint. An old wallet keeps paying until it is empty, and
   * tokens that arrived in the wallet of another mint may be paid back from there.
   */
  payingAt(atMs: number): readonly string[] {
    return this.#select(this.#every(), ({ fromMs }) => fromMs - clocksDifferMaxMs <= atMs)
  }

  all(): readonly string[] {
    return this.#select(this.#every(), () => true)
  }

  /** Checks after the last event that the auditor's wallet is one of the recorded wallets. */
  judgeGiven(findings: Findings): void {
    const periods = this.#periods.of(walletName)
    if (this.#given === undefined || periods.length === 0 || periods.some(({ text }) => text === this.#given)) return
    const recorded = [...new Set(periods.map(({ text }) => text))].join(', ')
    const message = `${this.#given} is paid, and the ledger has ${recorded} on record`
    findings.add('setting_wrong', { position: periods.at(-1)?.position, subject: walletName, message })
  }

  #every(): readonly WalletPeriod[] {
    return [...this.#ofToken(), ...this.#periods.ofAll(`${walletName}/`)]
  }

  #ofToken(): readonly WalletPeriod[] {
    const recorded = this.#periods.of(walletName)
    const always = { fromMs: Number.NEGATIVE_INFINITY, untilMs: Number.POSITIVE_INFINITY }
    return recorded.length === 0 ? [{ text: this.#given ?? noWallet(), ...always }] : recorded
  }

  #select(periods: readonly WalletPeriod[], isWanted: (period: WalletPeriod) => boolean): readonly string[] {
    // Deposits on tabs go to their own wallet, which belongs to the same accounts.
    const deposits = this.#periods.of('tab-wallet').map(({ text }) => text)
    const wallets = periods.filter(isWanted).map(({ text }) => text)
    return [...new Set([...wallets.toReversed(), ...deposits])]
  }
}

function noWallet(): never {
  throw new UsageError('--payment-wallet: is missing; the ledger has no payment wallet on record')
}
