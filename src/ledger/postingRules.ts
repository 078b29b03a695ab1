import { assertNever } from '../primitives/assert.ts'
import type { DistributionAllocated, LedgerEvent } from '../payment/events.ts'
import { transferBaseUnits } from '../payment/quote.ts'
import type { Settlement } from '../payment/settlement.ts'
import { accounts, overpaidBy } from './account.ts'
import type { Posting } from './posting.ts'

/**
 * What each event means in double entry. The only place that decides where money goes in the book: the write path posts
 * by it, and an audit derives every entry again from the events by it.
 */
export function postingsOf(event: LedgerEvent): readonly Posting[] {
  switch (event.kind) {
    case 'PaymentVerified':
      return received(event.settlement)
    case 'TokensBurned':
      return nonZero([
        {
          debit: accounts.burned,
          credit: accounts.burnedByCallers,
          mint: event.mint,
          amountBaseUnits: event.burnedBaseUnits,
        },
      ])
    case 'DistributionAllocated':
      return allocated(event)
    case 'PaymentSubmitted':
    case 'ProofClaimed':
    case 'RequestFulfilled':
    case 'RequestFailed':
    case 'PriceListPublished':
      return []
    default:
      return assertNever(event)
  }
}

/** What arrived is an asset; the price of it is owed to the caller until delivery, the rest is owed back to the wallet. */
function received({ wallet, price, receivedBaseUnits }: Settlement): readonly Posting[] {
  const owed = transferBaseUnits(price)
  const { mint } = price
  return nonZero([
    { debit: accounts.paymentWallet, credit: accounts.unearned, mint, amountBaseUnits: owed },
    { debit: accounts.paymentWallet, credit: overpaidBy(wallet), mint, amountBaseUnits: receivedBaseUnits - owed },
  ])
}

function allocated({
  mint,
  providerBaseUnits,
  holdersBaseUnits,
  treasuryBaseUnits,
}: DistributionAllocated): readonly Posting[] {
  return nonZero([
    { debit: accounts.unearned, credit: accounts.provider, mint, amountBaseUnits: providerBaseUnits },
    { debit: accounts.unearned, credit: accounts.holders, mint, amountBaseUnits: holdersBaseUnits },
    { debit: accounts.unearned, credit: accounts.treasury, mint, amountBaseUnits: treasuryBaseUnits },
  ])
}

// A price of one base unit rounds some shares to nothing, and a posting of nothing is no posting.
function nonZero(postings: readonly Posting[]): readonly Posting[] {
  return postings.filter((posting) => posting.amountBaseUnits !== 0n)
}
