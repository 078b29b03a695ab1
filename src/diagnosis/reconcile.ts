import type { Address } from '@tollbook/core/address'
import { type Clock, isoTime } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import { isPayoutMemo } from '../accounting/payoutPlan.ts'
import type { ChainReader } from '../payment/chainReader.ts'
import { type FinalityReader, type ListedSignature, listedMax } from '../payment/finalityReader.ts'
import { transactionReference } from '../payment/paymentReference.ts'
import type { PaymentTerms } from '../payment/settlement.ts'
import type { PaymentFacts } from '../reports/paymentFacts.ts'
import { arrivedBaseUnits, senderTo } from './transferFacts.ts'

export interface ReconcileDeps {
  readonly clock: Clock
  readonly facts: Pick<PaymentFacts, 'walletBalance' | 'accounted'>
  readonly chain: {
    readonly reader: Pick<ChainReader, 'find' | 'readBalance'>
    readonly finality: Pick<FinalityReader, 'listSignatures'>
  }
  readonly allTerms: () => readonly PaymentTerms[]
}

export interface Reconciliation {
  readonly mint: string
  readonly chainBaseUnits: string
  readonly ledgerBaseUnits: string
  readonly differenceBaseUnits: string
  readonly transfers: readonly UnexplainedTransfer[]
  readonly remainderBaseUnits: string
  readonly searched: number
  readonly asOf: string
}

/** A change of a payment wallet on chain that the ledger does not contain. */
export interface UnexplainedTransfer {
  readonly signature: string
  readonly blockTime: string | null
  readonly baseUnits: string
  readonly wallet: string | null
  readonly proposal: string
}

// Maximum number of pages per wallet. 10 pages are 10,000 transactions. An earlier run should have reported older
// differences.
const pagesMax = 10
// Maximum number of transfers, because each one is a request to a node. Transactions that do not change the balance do
// not count, because a stranger could hide a transfer behind them.
const readsMax = 500

/**
 * Finds the transfers that explain a difference. Searches backwards from the newest transaction until the difference is
 * explained, or the limits are reached.
 */
export async function reconcile(deps: ReconcileDeps, mint: string): Promise<Reconciliation> {
  const { clock, facts, chain, allTerms } = deps
  const wallets = allTerms().filter((terms) => terms.mint === mint)
  if (wallets.length === 0)
    throw new Fault(`${mint} is not the token and not in CURRENCIES, so its accounts on chain are not known`, {
      retryable: false,
    })
  const balances = await Promise.all(
    wallets.map(({ paymentWallet: wallet, mint: of }) =>
      chain.reader.readBalance({ wallet, mint: of, commitment: 'finalized' }),
    ),
  )
  const chainBaseUnits = balances.reduce((sum, { baseUnits }) => sum + baseUnits, 0n)
  const ledgerBaseUnits = await facts.walletBalance(mint)
  const differenceBaseUnits = chainBaseUnits - ledgerBaseUnits
  const found = { transfers: new Map<string, UnexplainedTransfer>(), searched: 0, leftBaseUnits: differenceBaseUnits }
  for (const { paymentTokenAccount: account } of wallets)
    await searchAccount({ ...deps, allTerms: () => wallets }, account, found)
  return {
    mint,
    chainBaseUnits: chainBaseUnits.toString(),
    ledgerBaseUnits: ledgerBaseUnits.toString(),
    differenceBaseUnits: differenceBaseUnits.toString(),
    transfers: [...found.transfers.values()],
    remainderBaseUnits: found.leftBaseUnits.toString(),
    searched: found.searched,
    asOf: isoTime(clock.nowMs()),
  }
}

interface Search {
  readonly transfers: Map<string, UnexplainedTransfer>
  searched: number
  leftBaseUnits: bigint
}

async function searchAccount(deps: ReconcileDeps, account: Address, search: Search): Promise<void> {
  const { chain, facts } = deps
  let before: ListedSignature['signature'] | undefined
  for (let page = 0; page < pagesMax && search.leftBaseUnits !== 0n; page++) {
    const listed = await chain.finality.listSignatures({ account, commitment: 'finalized', before, until: undefined })
    search.searched += listed.length
    const candidates = listed.filter(({ hasFailed }) => !hasFailed)
    const accounted = await facts.accounted(candidates.map(({ signature }) => transactionReference(signature)))
    for (const candidate of candidates) {
      const isNew =
        !accounted.has(transactionReference(candidate.signature)) && !search.transfers.has(candidate.signature)
      if (isNew && search.transfers.size < readsMax) await examine(deps, candidate, search)
    }
    before = listed.at(-1)?.signature
    if (listed.length < listedMax) return
  }
}

async function examine(deps: ReconcileDeps, { signature, memo }: ListedSignature, search: Search): Promise<void> {
  const finding = await deps.chain.reader.find(signature, { commitment: 'finalized' })
  if (finding.kind !== 'found')
    throw new Fault(`the node lists ${signature} and does not have it; ask again`, { retryable: true })
  const wallets = deps.allTerms()
  const baseUnits = arrivedBaseUnits(finding.record, wallets)
  // Skip transfers between payment wallets, and transactions that only touch a wallet, because their sum is zero.
  if (baseUnits === 0n) return
  const { blockTimeMs } = finding.record
  search.leftBaseUnits -= baseUnits
  search.transfers.set(signature, {
    signature,
    blockTime: blockTimeMs === undefined ? null : isoTime(blockTimeMs),
    baseUnits: baseUnits.toString(),
    wallet: baseUnits > 0n ? (senderTo(finding.record, wallets) ?? null) : null,
    proposal: proposalFor(signature, baseUnits, memo),
  })
}

function proposalFor(signature: string, baseUnits: bigint, memo: string | undefined): string {
  if (baseUnits > 0n)
    return `Arrived and was not presented. If the treasury sent it, wait: the service records a delivery after 70 minutes. Otherwise explain it, and record it as owed to its sender with: tollbook refund record ${signature} --by NAME --reason TEXT`
  if (memo !== undefined && isPayoutMemo(memo))
    return `A payout that is not recorded. Record it with: tollbook payout record ${signature} --plan PLAN`
  return 'Left the wallet without a payout. Find out who signed it, and have the tokens returned.'
}
