import { signatureOfBytes } from '@tollbook/core/signature'
import { randomBytesOf } from '@tollbook/core/id'
import { assertPresent } from '@tollbook/core/assert'
import type { Item, ItemEvent, Posting } from '@tollbook/ledger/item'

/*
 * Items of every declared kind. Bodies are opaque to the kernel, so they say only what makes them differ; those of the
 * wrappers are whole, because SQL reads them.
 */

export const mint = 'So11111111111111111111111111111111111111112'
export const otherMint = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
export const wallet = '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin'

const effectiveAtMs = Date.UTC(2026, 10, 22, 3, 30)

/** A new id in the space of Solana signatures. */
export function newSignature(): Uint8Array {
  return Uint8Array.of(1, ...randomBytesOf(64))
}

export function settingId(text: string): Uint8Array {
  return Uint8Array.of(3, ...Buffer.from(text, 'utf8'))
}

export function move(debit: string, credit: string, amountBaseUnits: bigint, of = mint): Posting {
  return { debit, credit, mint: of, amountBaseUnits }
}

export function event(kind: string, ...postings: readonly Posting[]): ItemEvent {
  const body = JSON.stringify({ kind, salt: Buffer.from(randomBytesOf(6)).toString('hex') })
  return { kind, schemaVersion: 1, effectiveAtMs, body: Buffer.from(body, 'utf8'), postings }
}

const wallets = 'Assets:PaymentWallet'
const unearned = 'Liabilities:Unearned'
const leaseMs = 60_000

export interface Sum {
  readonly price?: bigint
  readonly of?: string
}

/** A verified payment with its burn inside: 70 % arrive, 30 % are burned, and the price is exposed. */
export function claim(stream: Uint8Array, { price = 1000n, of = mint }: Sum = {}): Item {
  const burn = (price * 3n) / 10n
  return {
    stream,
    step: 'payment.claim',
    expectedVersion: 0,
    leaseMs,
    events: [
      event('PaymentVerified', move(wallets, unearned, price - burn, of)),
      event('TokensBurned', move('Expenses:Burned:/api/x', 'Income:BurnedByCallers', burn, of)),
      event('ProofClaimed', move('Memo:Exposed', 'Memo:ExposedContra', price, of)),
    ],
  }
}

/** A payment of the whole price: all of it arrives, and the service owes the burn from the delivery on. */
export function claimWhole(stream: Uint8Array, { price = 1000n, of = mint }: Sum = {}): Item {
  return {
    stream,
    step: 'payment.claim',
    expectedVersion: 0,
    leaseMs,
    events: [
      event('PaymentVerified', move(wallets, unearned, price, of)),
      event('ProofClaimed', move('Memo:Exposed', 'Memo:ExposedContra', price, of)),
    ],
  }
}

/** The claim and the delivery of a payment of the whole price: 30 % wait to be burned. */
export function oweBurn(stream: Uint8Array, sum: Sum = {}): readonly Item[] {
  return [claimWhole(stream, sum), fulfilWhole(stream, 2, sum)]
}

export function fulfilWhole(stream: Uint8Array, expectedVersion: number, sum: Sum = {}): Item {
  const { price = 1000n, of = mint } = sum
  const { events, ...item } = fulfil(stream, expectedVersion, sum)
  const owed = event('BurnOwed', move(unearned, 'Liabilities:BurnOwed', (price * 3n) / 10n, of))
  return { ...item, events: events.toSpliced(1, 0, owed) }
}

export function fulfil(stream: Uint8Array, expectedVersion: number, { price = 1000n, of = mint }: Sum = {}): Item {
  const arrived = price - (price * 3n) / 10n
  const [holders, treasury] = [arrived / 5n, arrived / 14n]
  return {
    stream,
    step: 'payment.fulfil',
    expectedVersion,
    events: [
      event('RequestFulfilled'),
      event(
        'DistributionAllocated',
        move(unearned, 'Liabilities:Share:provider', arrived - holders - treasury, of),
        move(unearned, 'Liabilities:Share:holders', holders, of),
        move(unearned, 'Liabilities:Share:treasury', treasury, of),
      ),
    ],
  }
}

export function release(stream: Uint8Array, expectedVersion: number, { price = 1000n, of = mint }: Sum = {}): Item {
  const freed = move('Memo:ExposedContra', 'Memo:Exposed', price, of)
  return { stream, step: 'payment.release', expectedVersion, events: [event('RequestFailed', freed)] }
}

/** Finality of a released payment, which is not exposed again when it is final. */
export function finalize(stream: Uint8Array, expectedVersion: number): Item {
  return { stream, step: 'payment.finalize', expectedVersion, events: [event('PaymentFinalized')] }
}

export function refund(stream: Uint8Array, expectedVersion: number, { price = 1000n, of = mint }: Sum = {}): Item {
  const arrived = price - (price * 3n) / 10n
  const owed = move(unearned, `Liabilities:RefundsDue:${wallet}`, arrived, of)
  return { stream, step: 'payment.refund', expectedVersion, events: [event('RefundDue', owed)] }
}

/** Reversal of a fulfilled payment: its shares stay owed, and become a loss. */
export function reverse(stream: Uint8Array, expectedVersion: number, { price = 1000n, of = mint }: Sum = {}): Item {
  const burn = (price * 3n) / 10n
  return {
    stream,
    step: 'payment.reverse',
    expectedVersion,
    events: [
      event(
        'PaymentReversed',
        move('Expenses:ReversedPayments', wallets, price - burn, of),
        move('Memo:ExposedContra', 'Memo:Exposed', price, of),
      ),
      event('BurnReversed', move('Income:BurnedByCallers', 'Expenses:Burned:/api/x', burn, of)),
    ],
  }
}

export function priceList(number: number, guardVersion = 1): Item {
  const item = { stream: settingId(`prices#${number}`), step: 'price_list.publish', expectedVersion: 0 }
  const events = [event('PriceListPublished')]
  if (number === 1) return { ...item, events }
  return { ...item, events, guards: [{ stream: settingId(`prices#${number - 1}`), version: guardVersion }] }
}

export interface Payout {
  readonly account?: string
  readonly paid?: bigint
}

/** The body that ledger.record_payout takes. */
export function payoutBody(
  stream: Uint8Array,
  { account = 'Liabilities:Share:provider', paid = 1n }: Payout = {},
): Buffer {
  const signature = assertPresent(signatureOfBytes(stream.subarray(1)), 'a stream of space 1 is a signature')
  return Buffer.from(
    JSON.stringify({
      kind: 'DistributionPaid',
      schemaVersion: 1,
      stream: `solana:${signature}`,
      version: 1,
      effectiveAt: new Date(effectiveAtMs).toISOString(),
      signature,
      mint,
      planId: 'plan',
      part: 1,
      payments: [{ account, wallet, paidBaseUnits: paid.toString() }],
    }),
  )
}
