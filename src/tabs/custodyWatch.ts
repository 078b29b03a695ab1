import type { Address } from '@tollbook/core/address'
import { codeText } from '@tollbook/core/fault'
import { type Custody, type CustodyDeps, type CustodyTerms, readCustody } from './tabAccounts.ts'

interface CustodyWatchDeps extends CustodyDeps {
  /** The service token is first. */
  readonly terms: readonly CustodyTerms[]
}

/**
 * Deposits stop if the wallets do not cover the tabs and the refunds. Too little of the service token stops all
 * deposits. Too little of a dollar stops only deposits in this dollar.
 */
export function createCustodyWatch() {
  let custodies: readonly Custody[] = []
  let unread: string | undefined = 'the wallet for tabs has not been read yet'
  const whyNoDeposit = (mint: Address) =>
    unread ?? (custodies.some((each) => each.mint === mint && !each.isCovered) ? shortOf(mint) : undefined)
  return {
    custodies: () => custodies,
    /**
     * No deposit is sold if the wallets cannot be read, or hold too little of the service token, because each 402
     * offers that token. Undefined while deposits are sold.
     */
    whyClosed(): string | undefined {
      const [ofToken] = custodies
      return unread ?? (ofToken && whyNoDeposit(ofToken.mint))
    },
    whyNoDeposit,
    problem: () => unread ?? custodies.map(({ mint }) => whyNoDeposit(mint)).find((why) => why !== undefined),
    async readAgain(deps: CustodyWatchDeps): Promise<void> {
      try {
        custodies = await Promise.all(deps.terms.map((terms) => readCustody(deps, terms)))
        unread = undefined
      } catch (error) {
        // Without the message of the error: callers read this text, and the message can contain addresses of nodes.
        unread = `the wallet for tabs cannot be read${codeText(error)}`
      }
    },
  }
}

function shortOf(mint: Address): string {
  return `the wallet for tabs holds less of ${mint} than the tabs, or with the payment wallet less than the refunds due`
}
