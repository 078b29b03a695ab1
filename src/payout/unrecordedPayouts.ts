import { isPayoutMemo, payoutMemo, type PayoutPlan } from '../accounting/payoutPlan.ts'
import type { Chain } from '../chain/openChain.ts'
import { type ListedSignature, listedMax } from '../payment/finalityReader.ts'
import type { Address } from '@tollbook/core/address'
import { Fault } from '@tollbook/core/fault'
import type { Signature } from '@tollbook/core/signature'
import type { Database } from '../store/database.ts'
import { findRecorded } from '../store/payoutStore.ts'
import type { PayoutWallets } from './payoutWallets.ts'

export interface UnrecordedDeps {
  readonly database: Database
  readonly chain: {
    readonly terms: Pick<Chain['terms'], 'mint'>
    readonly reader: Pick<Chain['reader'], 'find'>
    readonly finality: Pick<Chain['finality'], 'listSignatures'>
  }
  readonly wallets: Pick<PayoutWallets, 'tokenAccounts'>
}

// Maximum of pages back to the plan's slot: a million transactions. The search must reach this slot, because otherwise
// a part could be sent twice.
const pagesSincePlanMax = 1_000
// Maximum of pages without a slot: 10,000 transactions. A new plan has no slot at which the search ends. The
// transactions that `payout send` has signed are also on record (sentParts.ts).
const pagesOfNewPlan = 10

/**
 * Finds payouts on chain that the ledger lacks. Searches back to the slot, or only the newest transactions if the slot
 * is undefined.
 */
export async function findUnrecorded(
  deps: UnrecordedDeps,
  sinceSlot: number | undefined,
): Promise<readonly ListedSignature[]> {
  const found: ListedSignature[] = []
  for (const account of await deps.wallets.tokenAccounts())
    found.push(...(await findUnrecordedOf(deps, account, sinceSlot)))
  return found
}

async function findUnrecordedOf(
  deps: UnrecordedDeps,
  account: Address,
  sinceSlot: number | undefined,
): Promise<readonly ListedSignature[]> {
  const { chain, database } = deps
  const found: ListedSignature[] = []
  const oldestSlot = sinceSlot ?? 0
  let before: Signature | undefined
  for (let page = 0; page < (sinceSlot === undefined ? pagesOfNewPlan : pagesSincePlanMax); page++) {
    const listed = await chain.finality.listSignatures({ account, commitment: 'confirmed', before, until: undefined })
    const candidates = listed.filter(
      ({ memo, hasFailed, slot }) => memo !== undefined && isPayoutMemo(memo) && !hasFailed && slot >= oldestSlot,
    )
    const recorded = await findRecorded(
      database,
      candidates.map(({ signature }) => signature),
    )
    for (const payout of candidates) {
      if (!recorded.has(payout.signature) && (await hasPaidOut(deps, account, payout))) found.push(payout)
    }
    const last = listed.at(-1)
    if (listed.length < listedMax || last === undefined || last.slot < oldestSlot) return found
    before = last.signature
  }
  if (sinceSlot === undefined) return found
  throw new Fault(
    `more than ${pagesSincePlanMax * listedMax} transactions of ${account} are newer than the plan, so its payouts cannot be found; record what was sent, and make a new plan`,
    { retryable: false },
  )
}

/**
 * True if the transaction took tokens out of the account. Any sender can write a payout memo into a transaction that
 * names the account, but only the payment wallet can move its tokens.
 */
async function hasPaidOut({ chain }: UnrecordedDeps, account: Address, { signature }: ListedSignature) {
  const finding = await chain.reader.find(signature)
  if (finding.kind !== 'found')
    throw new Fault(`the node lists ${signature} and does not have it; ask again`, { retryable: true })
  const { mint } = chain.terms
  return finding.record.balances.some(
    ({ tokenAccount, mint: moved, beforeBaseUnits, afterBaseUnits }) =>
      tokenAccount === account && moved === mint && afterBaseUnits < beforeBaseUnits,
  )
}

/**
 * True if the memo is that of the part. A node lists all memos of a transaction in one text, each after its length:
 * `[62] first; [5] second`. A multisig may add another memo. The separator keeps part 1 from matching part 11.
 */
export function paysPart({ memo }: Pick<ListedSignature, 'memo'>, plan: Pick<PayoutPlan, 'id'>, part: number): boolean {
  return `${memo ?? ''}; `.includes(`${payoutMemo(plan, part)}; `)
}
