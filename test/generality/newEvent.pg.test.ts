import { expect, test } from 'vitest'
import { z } from 'zod'
import type { Address } from '@tollbook/core/address'
import { refundDueTo } from '../../src/accounting/account.ts'
import { createEventCodec } from '../../src/payment/eventCodec.ts'
import { defineEvent } from '../../src/payment/events/eventDefinition.ts'
import { address, baseUnits } from '../../src/payment/events/fields.ts'
import { ledgerEvents, type LedgerEvent } from '../../src/payment/events.ts'
import { itemEvent } from '../../src/store/paymentItem.ts'
import { findBroken } from '../kernel/checkLedger.ts'
import { openPool } from '../kernel/openKernel.ts'
import { openInstance } from '../store/instance.ts'
import { sampleAddress, sampleMint } from '../store/samplePayment.ts'
import { createTestDatabase } from '../support/database.ts'

/* A new kind of event: goodwill for a wallet, owed as a refund is. One definition, and its rows of the declaration. */

interface GoodwillGranted {
  readonly kind: 'GoodwillGranted'
  readonly wallet: Address
  readonly mint: Address
  readonly grantedBaseUnits: bigint
}

const goodwillGranted = defineEvent<GoodwillGranted>(
  z.object({ kind: z.literal('GoodwillGranted'), wallet: address, mint: address, grantedBaseUnits: baseUnits }),
  ({ wallet, mint, grantedBaseUnits: amountBaseUnits }) => [
    { debit: 'Expenses:Goodwill', credit: refundDueTo(wallet), mint, amountBaseUnits },
  ],
)

const rows = `
insert into ledger.kinds (kind, space) values ('goodwill', 4);
insert into ledger.classes (class, prefix, is_exact) values ('goodwill', 'Expenses:Goodwill', true);
insert into ledger.steps (step, kind, from_state, to_state, event_kinds, moves) values
  ('goodwill.grant', 'goodwill', '', 'granted', '{GoodwillGranted}', '{goodwill>refund}');`

const codec = createEventCodec<LedgerEvent | GoodwillGranted>([...ledgerEvents, goodwillGranted])

test('a new kind of event is appended, posted, read back and owed, with nothing of the product edited', async () => {
  const { serviceUrl, adminUrl } = await createTestDatabase()
  const admin = openPool(adminUrl, 2)
  await admin.query(rows)
  const { kernel } = await openInstance(serviceUrl)
  const wallet = sampleAddress()
  const event: GoodwillGranted = { kind: 'GoodwillGranted', wallet, mint: sampleMint, grantedBaseUnits: 7n }
  const header = { stream: 'goodwill:1', version: 1, effectiveAtMs: 1_795_312_000_000 }
  const stream = Uint8Array.of(4, 1)
  const grant = { stream, step: 'goodwill.grant', expectedVersion: 0, events: [itemEvent(codec, event, header)] }
  expect(await kernel.append(grant)).toMatchObject({ outcome: 'appended' })
  expect(await kernel.append(grant), 'once').toMatchObject({ refusal: { reason: 'conflict' } })
  const [recorded] = await kernel.read(stream)
  expect(codec.decode(Buffer.from(recorded?.body ?? []).toString('utf8'))).toEqual({ ...header, event })
  const { rows: owed } = await admin.query('select balance from ledger.accounts where name = $1', [refundDueTo(wallet)])
  expect(owed).toEqual([{ balance: '-7' }])
  expect(await findBroken(admin)).toEqual([])
})
