import type { Address } from '@tollbook/core/address'
import { assertPresent } from '@tollbook/core/assert'
import { type Clock, isoTime } from '@tollbook/core/clock'
import { readTabId } from '@tollbook/core/tab'
import type { ChainReader } from '../payment/chainReader.ts'
import { isTabFinal, type TabKeys } from '../payment/tab.ts'
import type { PaymentTerms } from '../payment/settlement.ts'
import type { TabLedger } from '../payment/tabLedger.ts'

export interface CustodyDeps {
  readonly tabs: Pick<TabLedger, 'totals'>
  readonly chain: Pick<ChainReader, 'readBalance'>
  /** Returns the wallet of new deposits first, then the former wallets. A transfer between them needs no event. */
  readonly tabWallets: () => readonly Address[]
  /** Returns a slot that the chain has certainly reached. */
  readonly slot: () => number
}

export interface TabAccountsDeps extends CustodyDeps {
  readonly clock: Clock
  readonly tabs: TabLedger
  /** The service token is first. */
  readonly terms: readonly CustodyTerms[]
}

export type CustodyTerms = Pick<PaymentTerms, 'mint' | 'paymentWallet'>

/** Balance of one mint in the wallets for tabs on the chain, and the debts that it must cover. */
export interface Custody {
  readonly mint: Address
  readonly wallet: Address
  readonly heldBaseUnits: bigint
  readonly prepaidBaseUnits: bigint
  readonly refundsDueBaseUnits: bigint
  readonly isCovered: boolean
}

/**
 * The wallets for tabs must cover the tabs. All wallets together must cover the refunds that are due, because refunds
 * of other sales are in the payment wallet and payouts use all wallets. Balances are read after the debts.
 */
export async function readCustody(deps: CustodyDeps, { mint, paymentWallet }: CustodyTerms): Promise<Custody> {
  const { tabs, chain, tabWallets, slot } = deps
  const { prepaidBaseUnits, refundsDueBaseUnits } = await tabs.totals(mint)
  // A cached balance may be older than the debts that were just read.
  const held = async (wallet: Address) =>
    (await chain.readBalance({ wallet, mint, minSlot: slot(), isFresh: true })).baseUnits
  const wallets = tabWallets()
  const heldBaseUnits = (await Promise.all(wallets.map(held))).reduce((sum, baseUnits) => sum + baseUnits, 0n)
  const restBaseUnits = heldBaseUnits - prepaidBaseUnits
  // A former wallet for tabs may be the payment wallet now. Its tokens are in `heldBaseUnits` already.
  const otherBaseUnits = async () => (wallets.includes(paymentWallet) ? 0n : held(paymentWallet))
  const isCovered =
    restBaseUnits >= refundsDueBaseUnits ||
    (restBaseUnits >= 0n && restBaseUnits + (await otherBaseUnits()) >= refundsDueBaseUnits)
  return {
    mint,
    wallet: assertPresent(wallets[0], 'deposits have a wallet'),
    heldBaseUnits,
    prepaidBaseUnits,
    refundsDueBaseUnits,
    isCovered,
  }
}

export function createTabAccounts(deps: TabAccountsDeps) {
  const { clock, tabs } = deps
  return {
    async show(id: string) {
      const tab = readTabId(id) === undefined ? undefined : await tabs.find(id)
      if (tab === undefined) return undefined
      const { wallet, mint, sessionKey, terms, lifecycle } = tab
      const facts = {
        tab: id,
        wallet,
        mint,
        state: lifecycle.isClosed ? 'closed' : clock.nowMs() < terms.endsAtMs ? 'open' : 'ended',
        isFinal: isTabFinal(tab),
        balanceBaseUnits: (await tabs.balanceBaseUnits(tab)).toString(),
        maxPerRequestBaseUnits: terms.maxPerRequestBaseUnits.toString(),
        maxPerDayBaseUnits: terms.maxPerDayBaseUnits?.toString() ?? null,
        endsAt: isoTime(terms.endsAtMs),
      }
      const hasBearerKey = terms.bearerHash !== undefined
      return { wallet, sessionKey, hasBearerKey, changes: lifecycle.version, facts }
    },
    async close(id: string, by: 'wallet' | 'session_key') {
      const closed = assertPresent(await tabs.close(id, by, clock.nowMs()), 'a tab stays on record')
      return closed.restBaseUnits.toString()
    },
    async replaceKeys(id: string, keys: TabKeys) {
      const tab = await tabs.find(id)
      return tab !== undefined && tabs.replaceKeys(tab, keys, clock.nowMs())
    },
    /** Returns the custody of the service token. The custody of each dollar is in the member `dollars`. */
    async custody() {
      const custodies = await Promise.all(deps.terms.map((terms) => readCustody(deps, terms)))
      const [ofToken, ...dollars] = custodies.map(shown)
      const ofDollars = dollars.length === 0 ? {} : { dollars }
      return { ...ofToken, ...ofDollars, asOf: isoTime(clock.nowMs()) }
    },
  }
}

function shown({ heldBaseUnits, prepaidBaseUnits, refundsDueBaseUnits, ...rest }: Custody) {
  const amounts = { heldBaseUnits, prepaidBaseUnits, refundsDueBaseUnits }
  const texts = Object.fromEntries(Object.entries(amounts).map(([name, baseUnits]) => [name, baseUnits.toString()]))
  return { ...rest, ...texts }
}
