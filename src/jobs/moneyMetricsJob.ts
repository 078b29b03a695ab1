import { accounts, shareName } from '../accounting/account.ts'
import type { MoneyFigures } from '../reports/moneyFigures.ts'
import { eachInTurn, repeat, type RepeatDeps, type Repeated } from './repeat.ts'

export interface ShownMoney extends MoneyFigures {
  readonly mint: string
  readonly refundsDueBaseUnits: bigint
  /** Tokens in all payment wallets on chain less the balance of `Assets:PaymentWallet`, in base units. */
  readonly walletDifferenceBaseUnits: bigint
  readonly walletBaseUnits: bigint
  readonly readAtMs: number
}

export interface MoneyMetricsDeps extends RepeatDeps {
  readonly mints: () => Promise<readonly string[]>
  readonly readFigures: (mint: string) => Promise<MoneyFigures>
  readonly walletBaseUnits: (mint: string) => Promise<bigint>
  readonly onMoney: (money: ShownMoney) => void
}

// Interval between readings. Each reading queries a few sums per mint, and one balance per payment wallet.
const everyMs = 60_000

export function startMoneyMetrics(deps: MoneyMetricsDeps): Repeated {
  const run = async () => eachInTurn(await deps.mints(), (mint) => showMoney(deps, mint))
  return repeat(deps, { name: 'money metrics', everyMs, run })
}

/** Reads the ledger before the chain, so a payment that arrives in between is a surplus and never a shortage. */
export async function showMoney(
  { readFigures, walletBaseUnits, onMoney, clock }: Omit<MoneyMetricsDeps, 'mints'>,
  mint: string,
): Promise<void> {
  const figures = await readFigures(mint)
  const onChainBaseUnits = await walletBaseUnits(mint)
  const bookedBaseUnits = figures.accounts.find(({ account }) => account === accounts.paymentWallet)?.baseUnits ?? 0n
  const refunds = figures.accounts.filter(({ account }) => isRefund(account))
  onMoney({
    ...figures,
    mint,
    refundsDueBaseUnits: -refunds.reduce((sum, { baseUnits }) => sum + baseUnits, 0n),
    walletBaseUnits: onChainBaseUnits,
    walletDifferenceBaseUnits: onChainBaseUnits - bookedBaseUnits,
    readAtMs: clock.nowMs(),
  })
}

/** True for an account that a payout returns to a wallet. */
function isRefund(account: string): boolean {
  const others: readonly string[] = [accounts.unearned, accounts.burnOwed, accounts.prepaid]
  return account.startsWith('Liabilities:') && !others.includes(account) && shareName(account) === undefined
}
