import { assert, assertNever } from '@tollbook/core/assert'
import type { DistributionAllocated, DistributionPaid, LedgerEvent, PaymentReversed } from '../payment/events.ts'
import { transferBaseUnits } from '@tollbook/core/quote'
import type { Settlement } from '../payment/settlement.ts'
import { accounts, isPayable, overpaidBy, refundDueTo, unmatchedFrom } from './account.ts'
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
    case 'PaymentReversed':
      return reversed(event)
    case 'RefundDue': {
      const { wallet, mint, refundBaseUnits: amountBaseUnits } = event
      return nonZero([{ debit: accounts.unearned, credit: refundDueTo(wallet), mint, amountBaseUnits }])
    }
    case 'TransferReceived': {
      const { wallet, mint, receivedBaseUnits: amountBaseUnits } = event
      return nonZero([{ debit: accounts.paymentWallet, credit: unmatchedFrom(wallet), mint, amountBaseUnits }])
    }
    case 'DistributionPaid':
      return paidOut(event)
    case 'PaymentFinalized':
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

/** What arrived has never arrived. What was earned with it stays owed to those who earned it, and becomes our loss. */
function reversed(event: PaymentReversed): readonly Posting[] {
  const { mint, wallet, unearnedBaseUnits, lostBaseUnits, overpaidBaseUnits, burnedBaseUnits } = event
  const credit = accounts.paymentWallet
  return nonZero([
    { debit: accounts.unearned, credit, mint, amountBaseUnits: unearnedBaseUnits },
    { debit: accounts.reversedPayments, credit, mint, amountBaseUnits: lostBaseUnits },
    { debit: overpaidBy(wallet), credit, mint, amountBaseUnits: overpaidBaseUnits },
    { debit: accounts.burnedByCallers, credit: accounts.burned, mint, amountBaseUnits: burnedBaseUnits },
  ])
}

function paidOut({ mint, payments }: DistributionPaid): readonly Posting[] {
  return payments.map(({ account, paidBaseUnits }): Posting => {
    assert(isPayable(account), `nothing is paid out of ${account}`)
    return { debit: account, credit: accounts.paymentWallet, mint, amountBaseUnits: paidBaseUnits }
  })
}

// A price of one base unit rounds some shares to nothing, and a posting of nothing is no posting.
function nonZero(postings: readonly Posting[]): readonly Posting[] {
  return postings.filter((posting) => posting.amountBaseUnits !== 0n)
}
