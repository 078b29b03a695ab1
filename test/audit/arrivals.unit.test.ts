import { expect, test } from 'vitest'
import { sampleAddress } from '../store/samplePayment.ts'
import { exposed, listed, owed, over, price, reference, served, tokensBurned, wallet } from './replayedLedger.ts'

/* Arrivals in a second mint, whose tokens must not be recorded again in the stream of their transaction. */

const { mint, endpoint } = price
const second = sampleAddress()
const received = (of: string) => ['TransferReceived', { wallet, mint: of, receivedBaseUnits: '7', slot: 950 }] as const
const arrivalOf = (of: string) => reference.replace('solana:', 'arrival:').concat(`:${of}`)

test('an arrival in the mint of a payment that has not landed is found, because the payment would count it too', () => {
  const sent = { wallet, endpoint, quoteId: null, transactionBase64: 'AA==' }
  const ledger = listed().append(reference, ['PaymentSubmitted', sent]).append(arrivalOf(mint), received(mint))
  expect(ledger.codes()).toEqual(['lifecycle_impossible'])
})

test('after the reversal of a payment, tokens that are on record as an arrival are not received again', () => {
  const reversed = {
    reason: 'absent',
    finalizedSlot: 960,
    wallet,
    endpoint,
    ...exposed,
    lostBaseUnits: String(owed),
    overpaidBaseUnits: String(over),
    unearnedBaseUnits: '0',
    burnOwedBaseUnits: '0',
  }
  const again = (of: string) =>
    served()
      .append(arrivalOf(second), received(second))
      .append(reference, ['PaymentReversed', reversed], ['BurnReversed', tokensBurned])
      .append(reference, received(of))
      .codes()
  expect(again(mint)).toEqual([])
  expect(again(second)).toEqual(['lifecycle_impossible'])
})
