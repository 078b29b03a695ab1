import type { Chain } from '../chain/openChain.ts'
import { tokenAccountOf } from '../chain/walletTerms.ts'
import type { PayoutPlan } from '../accounting/payoutPlan.ts'
import type { Address } from '@tollbook/core/address'
import type { Clock } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import { formatDecimal } from '@tollbook/core/money'
import { periodInForce, type SettingPeriod, walletOf } from '../settings/settingPeriods.ts'
import { everyWallet, paymentWalletName } from '../settings/walletSettings.ts'
import type { Database } from '../store/database.ts'
import { readPeriods } from '../store/settingStore.ts'

export type PayoutWallets = ReturnType<typeof openPayoutWallets>

export interface PayoutWalletsDeps {
  readonly database: Database
  readonly chain: Pick<Chain, 'terms' | 'reader'>
  readonly clock: Clock
  /** Undefined: the service token. */
  readonly dollar: Address | undefined
}

/** Opens the wallets of payouts. Each call reads the current and former wallets again, because they can change. */
export function openPayoutWallets(deps: PayoutWalletsDeps) {
  const { database, chain, dollar } = deps
  const name = paymentWalletName(dollar)
  // Include every wallet. The wallet for tabs holds deposits that a payout must leave, and pays balances that closed
  // tabs return. A wallet of another mint may have received tokens of this mint by mistake.
  const allPeriods = () => readPeriods(database, everyWallet)
  const all = async () => walletsOf(chain, await allPeriods())
  return {
    /** Throws if another wallet is in force for the mint. With `fromOldWallet`, a former wallet on record is accepted. */
    require: async (options: { readonly fromOldWallet: boolean }) =>
      requireWallet(deps, await readPeriods(database, [name]), { ...options, all: await allPeriods() }),
    requireCover: async (plan: PayoutPlan, heldBaseUnits: bigint) =>
      requireCover(deps, { wallets: await all(), heldBaseUnits, plan }),
    all,
    tokenAccounts: async () => (await all()).map((wallet) => tokenAccountOf(chain.terms, wallet)),
  }
}

/** Returns the wallets, the configured wallet first. */
function walletsOf({ terms }: PayoutWalletsDeps['chain'], periods: readonly SettingPeriod[]): readonly Address[] {
  return [...new Set([terms.paymentWallet, ...periods.map(walletOf)])]
}

function requireWallet(
  { chain, clock, dollar }: PayoutWalletsDeps,
  periods: readonly SettingPeriod[],
  { fromOldWallet, all }: { readonly fromOldWallet: boolean; readonly all: readonly SettingPeriod[] },
): void {
  const { paymentWallet } = chain.terms
  const inForce = periodInForce(periods, clock.nowMs())
  if (inForce === undefined || walletOf(inForce) === paymentWallet) return
  const [own, variable] =
    dollar === undefined ? ['', 'PAYMENT_WALLET'] : [` for ${dollar}`, 'wallet= of the dollar in CURRENCIES']
  const current = `the payment wallet of the ledger${own} is ${walletOf(inForce)} since ${inForce.validFrom}`
  if (!all.some((period) => walletOf(period) === paymentWallet))
    throw refused(`${variable} ${paymentWallet} is not on record: ${current}. Set ${variable} to a wallet on record`)
  if (!fromOldWallet)
    throw refused(
      `${variable} ${paymentWallet} is not in force: ${current}. Set ${variable} to it, or pay out of the other wallet on purpose with --from-old-wallet`,
    )
}

interface Cover {
  readonly wallets: readonly Address[]
  /** Tokens that no payout may use: paid and not delivered yet, owed for burning, or prepaid. */
  readonly heldBaseUnits: bigint
  readonly plan: PayoutPlan
}

/**
 * Throws unless the plan's wallet covers the plan. All wallets together must also cover the tokens that are held for
 * others.
 */
async function requireCover({ chain }: PayoutWalletsDeps, { wallets, heldBaseUnits, plan }: Cover): Promise<void> {
  const { parts, paymentWallet, decimals, slot: minSlot } = plan
  const plannedBaseUnits = parts.flat().reduce((sum, { baseUnits }) => sum + baseUnits, 0n)
  const balances = await Promise.all(
    wallets.map(async (wallet) => ({
      wallet,
      baseUnits: (await chain.reader.readBalance({ wallet, minSlot, isFresh: true })).baseUnits,
    })),
  )
  const allBaseUnits = balances.reduce((sum, { baseUnits }) => sum + baseUnits, 0n)
  const ownBaseUnits = balances.find(({ wallet }) => wallet === paymentWallet)?.baseUnits ?? 0n
  if (ownBaseUnits >= plannedBaseUnits && allBaseUnits - heldBaseUnits >= plannedBaseUnits) return
  const amount = (baseUnits: bigint) => formatDecimal(baseUnits, decimals)
  const others = balances
    .filter(({ wallet, baseUnits }) => wallet !== paymentWallet && baseUnits > 0n)
    .map(({ wallet, baseUnits }) => `${wallet} holds ${amount(baseUnits)}`)
  const less = 'leave out debts with --except, or set a higher --min-tokens'
  const advice =
    ownBaseUnits >= plannedBaseUnits || others.length === 0
      ? `Send the tokens that are missing to ${paymentWallet}, ${less}`
      : `The payment wallet ${others.join(', and the payment wallet ')}: transfer these tokens to ${paymentWallet} (a transfer between payment wallets on record needs no event), or ${less}`
  throw refused(
    `the plan pays ${amount(plannedBaseUnits)} tokens, and ${paymentWallet} holds ${amount(ownBaseUnits)}, while ${amount(heldBaseUnits)} are held for open payments and owed burns. ${advice}`,
  )
}

function refused(message: string): Fault {
  return new Fault(message, { retryable: false })
}
