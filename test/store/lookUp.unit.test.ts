import { expect, test } from 'vitest'
import { tabIdOf } from '@tollbook/core/tab'
import { silentLog } from '../../src/machine/log.ts'
import { paymentCodec } from '../../src/payment/events.ts'
import { tabRequestReference } from '../../src/payment/paymentReference.ts'
import { newLifecycle, type Tab } from '../../src/payment/tab.ts'
import { createPaymentLifecycle } from '../../src/store/lifecycleStore.ts'
import { createPaymentLedger } from '../../src/store/paymentStore.ts'
import { mint, referenceNumber, settlementOf, wallet } from '../payment/paymentStory.ts'

const unused = (): never => {
  throw new Error('this lookup asks for nothing more')
}
const id = tabIdOf(new Uint8Array(64).fill(1))
const reference = referenceNumber(1)
const keys = { sessionKey: wallet, bearerHash: undefined }

function tabWith(standing: Tab['deposits'][number]['standing']): Tab {
  return {
    ...keys,
    id,
    wallet,
    mint,
    deposit: reference,
    evidence: settlementOf(reference).evidence,
    terms: { ...keys, maxPerRequestBaseUnits: 1n, maxPerDayBaseUnits: undefined, endsAtMs: 0 },
    lifecycle: newLifecycle,
    deposits: [{ reference, baseUnits: 1n, effectiveAtMs: 0, standing, lostBaseUnits: 0n }],
  }
}

/** State of a payment that the ledger lacks. */
async function unknown(tab: Tab | undefined, asked = tabRequestReference(id, 1n)) {
  const ledger = createPaymentLedger({
    strangers: Object.create(null),
    pool: { query: unused },
    kernel: { append: unused, read: () => Promise.resolve([]), readMany: unused, drained: unused },
    log: silentLog,
    quotes: Object.create(null),
    priceLists: Object.create(null),
    sentAnswers: { add: unused, has: unused },
    tabs: {
      find: () => Promise.resolve(tab),
      forget: unused,
      balanceBaseUnits: unused,
      spentTodayBaseUnits: unused,
    },
    repeatMs: 0,
  })
  return (await ledger.lookUp({ reference: asked, wallet, idempotencyKey: undefined })).payment
}

test('a debit that the ledger lacks has the finality of the deposits of its tab, and a payment none', async () => {
  expect(await unknown(tabWith('final'))).toEqual({ phase: 'unknown', version: 0, isFinal: true })
  expect(await unknown(tabWith('open'))).toEqual({ phase: 'unknown', version: 0, isFinal: false })
  expect(await unknown(undefined)).toEqual({ phase: 'unknown', version: 0 })
  expect(await unknown(tabWith('final'), reference)).toEqual({ phase: 'unknown', version: 0 })
})

test('a payment whose events cannot be decoded fails alone, when it is read from the list', async () => {
  const [damaged, other, missing] = [referenceNumber(2), referenceNumber(3), referenceNumber(4)]
  const received = { kind: 'TransferReceived', wallet, mint, receivedBaseUnits: 7n, slot: 1 } as const
  const body = paymentCodec.encode(received, { stream: other, version: 1, effectiveAtMs: 0 })
  const recorded = (text: string) => {
    const place = { position: 1, version: 1, leafHash: '', effectiveAtMs: 0, recordedAtMs: 0 }
    return [{ ...place, kind: received.kind, schemaVersion: 1, body: Buffer.from(text) }]
  }
  const { loadPayments } = createPaymentLifecycle({
    database: Object.create(null),
    kernel: {
      append: unused,
      read: unused,
      readMany: () => Promise.resolve([recorded(body.replace('"7"', '"7.5"')), recorded(body), []]),
      drained: unused,
    },
    election: Object.create(null),
  })
  const payments = await loadPayments([damaged, other, missing])
  expect(() => payments.get(damaged)).toThrow('base units')
  expect(payments.get(other)).toEqual({ phase: 'unmatched', version: 1, wallet, mint })
  expect(payments.get(missing)).toBeUndefined()
})
