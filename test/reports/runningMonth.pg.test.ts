import { signCheckpoint } from '@tollbook/core/checkpoint'
import type { SignedClosing } from '@tollbook/core/closingStatement'
import { jwsSigner } from '@tollbook/core/compactJws'
import { ed25519Signer } from '@tollbook/core/ed25519'
import { isoTime, systemClock } from '@tollbook/core/clock'
import { verifyClosing } from '@tollbook/client/verifyClosing'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { makeReceiptKey } from '../../src/cli/local/home.ts'
import { unsealedMax } from '../../src/reports/closing/closingRange.ts'
import { receiptKeyId } from '../../src/settings/receiptKeys.ts'
import { signClosing } from '../../src/reports/closing/signClosing.ts'
import { createReports } from '../../src/reports/reports.ts'
import { rollUp } from '../../src/reports/rollUp.ts'
import { sealNext } from '../../src/store/sealer.ts'
import { createTestDatabase } from '../support/database.ts'
import { openInstance, openSessions } from '../store/instance.ts'
import { sampleAddress, sampleMint } from '../store/samplePayment.ts'
import { recordBurn } from './recordBurn.ts'
import { ends, type SeededPayment, seedPayment } from './seedPayment.ts'

/*
 * Sales go on while the statement of the running month is taken: the newest events are in no checkpoint yet. A day ago
 * is in a month that is open, whatever the day of the test is; sixty days ago is in one that is closed.
 */

const dayMs = 86_400_000
const startMs = systemClock.nowMs()
const month = isoTime(startMs - dayMs).slice(0, 7)

const { serviceUrl, adminUrl } = await createTestDatabase()
const ledger = await openInstance(serviceUrl)
const admin = openSessions(adminUrl)
const key = makeReceiptKey()
const signer = ed25519Signer(key)
const signJws = jwsSigner(signer, receiptKeyId(key))
const sign = (tree: { size: number; root: Uint8Array }) =>
  signCheckpoint({ origin: 'tollbook/running', ...tree }, signer)
const reports = createReports(ledger.database, { mint: sampleMint, decimals: 6 })
const keys = { kty: key.kty, crv: key.crv, x: key.x }

const statementNow = async () => signClosing(signJws, await reports.closing({ month, nowMs: startMs }))
/** Figures without the time of issue, which alone may differ. */
const figuresOf = ({ statement }: SignedClosing) => ({ ...statement, issuedAt: '' })
const seal = async () => {
  while ((await sealNext({ ...ledger, sign })).sealedEvents > 0);
}

const payment = fc.record({
  wallet: fc.constantFrom(...Array.from({ length: 3 }, () => sampleAddress())),
  endpoint: fc.constantFrom('/api/data/weather', '/api/tools/qrcode'),
  requiredBaseUnits: fc.bigInt({ min: 10n, max: 10n ** 12n }),
  overpaidBaseUnits: fc.bigInt({ min: 0n, max: 10n ** 6n }),
  blockTimeMs: fc.constantFrom(60, 31, 3, 1, 0).map((days) => startMs - days * dayMs),
  end: fc.constantFrom<SeededPayment['end']>(...ends, 'finalized'),
  isPaidWhole: fc.boolean(),
})
const rounds = fc.sample(fc.array(payment, { minLength: 3, maxLength: 8 }), { numRuns: 4, seed: 11 })

let burns = 0

async function trade(payments: readonly SeededPayment[]): Promise<void> {
  await Promise.all(payments.map((each) => seedPayment(ledger, each)))
  const parts = [{ endpoint: '/api/data/weather', baseUnits: 3n }]
  await recordBurn(admin, { round: ++burns, mint: sampleMint, parts, effectiveAtMs: startMs - dayMs })
  // Steps of the roll-up and checkpoints end at different events.
  while ((await rollUp(ledger.database, 25)) > 0);
}

test('the statement of a running month has exactly the figures of its checkpoint, whatever was recorded after it', async () => {
  const owed = { wallet: sampleAddress(), requiredBaseUnits: 10n ** 9n, overpaidBaseUnits: 1n, isPaidWhole: true }
  await trade([
    { ...owed, endpoint: '/api/data/weather', blockTimeMs: startMs - dayMs, end: 'finalized' },
    { ...owed, endpoint: '/api/data/weather', blockTimeMs: startMs, end: 'claimed' },
  ])
  for (const payments of rounds) {
    await seal()
    const sealed = await statementNow()
    await trade(payments)
    const unsealed = await statementNow()
    expect(figuresOf(unsealed)).toEqual(figuresOf(sealed))
    expect(unsealed.statement).toMatchObject({ status: 'preliminary', position: unsealed.statement.treeSize })
    expect(await verifyClosing({ closing: unsealed, keys })).toMatchObject({ valid: true })
  }
  const before = await statementNow()
  await seal()
  expect((await statementNow()).statement.position).toBeGreaterThan(before.statement.position)
})

test('a sealer that is far behind is a fault that names both positions', async () => {
  const { position } = (await statementNow()).statement
  const ahead = position + unsealedMax + 1
  await admin.query('update reports.progress set upto_seq = $1', [ahead])
  await expect(statementNow()).rejects.toThrow(`the events are sealed up to position ${position} of ${ahead}`)
})
