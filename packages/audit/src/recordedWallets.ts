import { UsageError } from './commandArguments.ts'
import type { Findings } from './findings.ts'
import { clocksDifferMaxMs, type SettingPeriod, type SettingPeriods } from './settingPeriods.ts'

const walletName = 'payment-wallet'
type WalletPeriod = Pick<SettingPeriod, 'text' | 'fromMs' | 'untilMs'>

/**
 * Finds the payment wallets of a mint and time. Uses the recorded wallets, or the auditor's wallet if none is recorded.
 * Payments in a dollar token without a recorded wallet go to the wallet of the service token.
 */
export class RecordedWallets {
  readonly #periods: SettingPeriods
  readonly #given: string | undefined

  constructor(periods: SettingPeriods, given: string | undefined) {
    this.#periods = periods
    this.#given = given
  }

  /** Returns the wallets that could receive a payment in this mint at this time: newest first, then those for tabs. */
  acceptedAt(mint: string, atMs: number): readonly string[] {
    const ofDollar = this.#periods.of(`${walletName}/${mint}`)
    return this.#select(
      ofDollar.length === 0 ? this.#ofToken() : ofDollar,
      ({ fromMs, untilMs }) => fromMs - clocksDifferMaxMs <= atMs && atMs < untilMs,
    )
  }

  /**
   * Returns the wallets that may pay out at this time, in any mint. An old wallet pays until it is empty, and the
   * wallet of one mint may return tokens of another mint.
   */
  payingAt(atMs: number): readonly string[] {
    return this.#select(this.#every(), ({ fromMs }) => fromMs - clocksDifferMaxMs <= atMs)
  }

  all(): readonly string[] {
    return this.#select(this.#every(), () => true)
  }

  /**
   * Reports the wallet of `--payment-wallet` if the ledger records only other payment wallets of the service token.
   * Called after the last event, because only then are all recorded wallets known.
   */
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
    // Add the wallets for tabs, because deposits on tabs are payments too.
    const deposits = this.#periods.of('tab-wallet').map(({ text }) => text)
    const wallets = periods.filter(isWanted).map(({ text }) => text)
    return [...new Set([...wallets.toReversed(), ...deposits])]
  }
}

function noWallet(): never {
  throw new UsageError('--payment-wallet: is missing; the ledger has no payment wallet on record')
}
