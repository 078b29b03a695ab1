import type { Address } from '@tollbook/core/address'
import { describeError } from '@tollbook/core/fault'
import { type Custody, type CustodyDeps, type CustodyTerms, readCustody } from './tabAccounts.ts'

/** The balances of the wallets for tabs as they were last read, and the deposits that they stop. */
export interface CustodyWatch {
  /** Empty before the first reading. */
  custodies(): readonly Custody[]
  /** Why no deposit is sold: the wallets cannot be read, or hold too little of the token, which each 402 names. */
  whyClosed(): string | undefined
  whyNoDeposit(mint: Address): string | undefined
  problem(): string | undefined
  readAgain(deps: CustodyWatchDeps): Promise<void>
}

export interface CustodyWatchDeps extends CustodyDeps {
  /** Mints of deposits with their payment wallets, the service token first. */
  readonly terms: readonly CustodyTerms[]
}

/** Creates the monitor of the wallets for tabs. A mint of which they hold too little stops its own deposits only. */
export function createCustodyWatch(): CustodyWatch {
  let custodies: readonly Custody[] = []
  let unread: string | undefined = 'the wallet for tabs has not been read yet'
  const whyNoDeposit = (mint: Address) =>
    unread ?? (custodies.some((each) => each.mint === mint && !each.isCovered) ? shortOf(mint) : undefined)
  return {
    custodies: () => custodies,
    whyClosed() {
      const [ofToken] = custodies
      return unread ?? (ofToken && whyNoDeposit(ofToken.mint))
    },
    whyNoDeposit,
    problem: () => unread ?? custodies.map(({ mint }) => whyNoDeposit(mint)).find((why) => why !== undefined),
    async readAgain(deps) {
      try {
        custodies = await Promise.all(deps.terms.map((terms) => readCustody(deps, terms)))
        unread = undefined
      } catch (error) {
        unread = `the wallet for tabs cannot be read: ${describeError(error)}`
      }
    },
  }
}

function shortOf(mint: Address): string {
  return `the wallet for tabs holds less of ${mint} than the tabs, or with the payment wallet less than the refunds due`
}
