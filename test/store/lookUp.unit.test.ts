import { expect, test } from 'vitest'
import { tabIdOf } from '@tollbook/core/tab'
import { silentLog } from '../../src/machine/log.ts'
import { tabRequestReference } from '../../src/payment/paymentReference.ts'
import { newLifecycle, type Tab } from '../../src/payment/tab.ts'
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
