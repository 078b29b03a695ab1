import type { Receiver } from '../accounting/planPayout.ts'
import type { ChainAccount } from '../chain/accountStates.ts'
import type { Chain } from '../chain/openChain.ts'
import { tokenAccountOf } from '../chain/walletTerms.ts'
import type { Address } from '@tollbook/core/address'
import type { Database } from '../store/database.ts'
import { findPaidWallets } from '../store/payoutStore.ts'

export interface ReceiverDeps {
  readonly database: Database
  readonly chain: Pick<Chain, 'terms' | 'readAccounts'>
}

/** Reads the receiving accounts of the wallets, in a state of slot `minSlot` or a later slot. */
export async function readReceivers(
  { chain, database }: ReceiverDeps,
  wallets: readonly Address[],
  minSlot: number,
): Promise<ReadonlyMap<Address, Receiver>> {
  const addresses = wallets.map((wallet) => tokenAccountOf(chain.terms, wallet))
  const states = await chain.readAccounts({ addresses, commitment: 'confirmed', minSlot })
  const missing = wallets.filter((_, index) => states[index]?.token === undefined)
  const paid = await findPaidWallets(database, chain.terms.mint, missing)
  return new Map(
    wallets.map((wallet, index) => [
      wallet,
      judge({ wallet, account: addresses[index], state: states[index], wasPaid: paid.has(wallet) }),
    ]),
  )
}

interface Seen {
  readonly wallet: Address
  readonly account: Address | undefined
  readonly state: ChainAccount | undefined
  readonly wasPaid: boolean
}

function judge({ wallet, account, state, wasPaid }: Seen): Receiver {
  const token = state?.token
  if (token === undefined) return { kind: 'missing', wasPaid }
  const refusing = (what: string): Receiver => ({
    kind: 'refusing',
    why: `${wallet}: its token account ${account} ${what}`,
  })
  if (token.owner !== wallet) return refusing(`belongs to ${token.owner}`)
  if (token.isFrozen) return refusing('is frozen')
  return token.requiresMemo ? refusing('requires a memo with each transfer') : { kind: 'ready' }
}
