import { expect, test } from 'vitest'
import { Bug } from '@tollbook/core/assert'
import { tabIdOf } from '@tollbook/core/tab'
import type { AppendResult } from '@tollbook/ledger/item'
import { silentLog } from '../../src/machine/log.ts'
import { decideClaim } from '../../src/payment/attempt.ts'
import { decideFinality } from '../../src/payment/finality.ts'
import { type PaymentDecision, type PaymentState, unknownPayment } from '../../src/payment/payment.ts'
import { type PaymentReference, tabRequestReference } from '../../src/payment/paymentReference.ts'
import { newLifecycle, type Tab } from '../../src/payment/tab.ts'
import { createPaymentLedger } from '../../src/store/paymentStore.ts'
import { mint, order, referenceNumber, settlementOf, wallet } from '../payment/paymentStory.ts'

/* Outcomes for the caller when the ledger refuses an append. */

const unused = (): never => {
  throw new Error('this append asks for nothing more')
}
const reference = referenceNumber(1)
const settlement = settlementOf(reference)
const verified = { version: 5, settlement, attempt: 1, endpoint: settlement.price.endpoint, isFinal: false }
const fulfilled: PaymentState = { ...verified, phase: 'fulfilled' }
const tabId = tabIdOf(new Uint8Array(64).fill(1))

function tabWith(lifecycle: Tab['lifecycle']): Tab {
  const keys = { sessionKey: wallet, bearerHash: undefined }
  return {
    ...keys,
    id: tabId,
    wallet,
    mint,
    deposit: reference,
    evidence: settlement.evidence,
    terms: { ...keys, maxPerRequestBaseUnits: 1n, maxPerDayBaseUnits: undefined, endsAtMs: 0 },
    lifecycle,
    deposits: [],
  }
}

interface Refused {
  readonly of: PaymentReference
  readonly before: PaymentState
  readonly decision: PaymentDecision | undefined
  readonly refusal: Extract<AppendResult, { outcome: 'refused' }>['refusal']
  /** The tab as it is now. A cached one is open, with its first keys. */
  readonly tab?: Tab
}

async function appendRefused({ of, before, decision, refusal, tab }: Refused) {
  let found = tabWith(newLifecycle)
  const ledger = createPaymentLedger({
    strangers: Object.create(null),
    pool: { query: unused },
    kernel: {
      append: () => Promise.resolve({ outcome: 'refused', refusal }),
      read: unused,
      readMany: unused,
      drained: unused,
    },
    log: silentLog,
    quotes: Object.create(null),
    priceLists: Object.create(null),
    sentAnswers: { add: unused, has: unused },
    tabs: {
      find: () => Promise.resolve(found),
      forget: () => void (found = tab ?? found),
      balanceBaseUnits: () => Promise.resolve(3n),
      spentTodayBaseUnits: unused,
    },
    repeatMs: 0,
  })
  if (decision === undefined) throw new Error('the step applies')
  return ledger.append({ reference: of, before, ...decision, nowMs: 0 })
}

const limit = { reason: 'limit', account: `Liabilities:Prepaid:${tabId}` } as const

test('a reversal against a debit of this moment is a conflict, so that the tab is read again', async () => {
  const reversed = { kind: 'reversed', reason: 'absent', finalizedSlot: 1 } as const
  const reversal = { of: reference, before: fulfilled, decision: decideFinality(fulfilled, reversed) }
  for (const refusal of [limit, { reason: 'conflict' }] as const)
    expect(await appendRefused({ ...reversal, refusal })).toEqual({ outcome: 'conflict' })
  const finality = decideFinality(fulfilled, { kind: 'finalized', slot: 1 })
  await expect(appendRefused({ ...reversal, decision: finality, refusal: limit })).rejects.toThrow(Bug)
})

test('a debit that the ledger refuses is refused for the state of its tab now, and not of a moment ago', async () => {
  const of = tabRequestReference(tabId, 1n)
  const signed = { sessionKey: wallet, maxBaseUnits: 9n, validUntilMs: 9, requestDigest: '', signature: '' }
  const facts = { tab: tabId, number: 1n, deposit: reference, bearerHash: undefined, signed, lifecycle: 0 }
  const debit = { ...settlementOf(of), priceList: 1, debit: { ...facts, orderDigest: order.digest } }
  const command = { order, settlement: debit, attemptId: 'attempt', leaseMs: 1, attemptsMax: 1, nowMs: 0 }
  const decision = decideClaim(unknownPayment, command)
  if (!('step' in decision)) throw new Error('a first debit is decided')
  const refusedWith = (lifecycle: Tab['lifecycle'], refusal: Refused['refusal']) =>
    appendRefused({ of, before: unknownPayment, decision, refusal, tab: tabWith(lifecycle) })
  const closed = { ...newLifecycle, version: 1, isClosed: true }
  for (const [lifecycle, refusal, expected] of [
    [closed, { reason: 'guard' }, { reason: 'tab_closed' }],
    [{ ...newLifecycle, version: 1 }, { reason: 'guard' }, { reason: 'tab_key_replaced' }],
    [newLifecycle, limit, { code: 'INSUFFICIENT_BALANCE', tab: { id: tabId, balanceBaseUnits: 3n } }],
  ] as const)
    expect(await refusedWith(lifecycle, refusal)).toMatchObject({ outcome: 'refused', refusal: expected })
  expect(await refusedWith(newLifecycle, { reason: 'key_used' })).toEqual({ outcome: 'idempotency_key_reused' })
})
