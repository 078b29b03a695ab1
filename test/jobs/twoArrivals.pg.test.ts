import { expect, test } from 'vitest'
import type { Address } from '@tollbook/core/address'
import { systemClock } from '@tollbook/core/clock'
import { readSignature, type Signature } from '@tollbook/core/signature'
import { assertPresent } from '@tollbook/core/assert'
import { encodeBase58 } from '@tollbook/core/base58'
import { scanWallets } from '../../src/jobs/transferScanJob.ts'
import { silentLog } from '../../src/machine/log.ts'
import { signatureOf } from '../../src/payment/paymentReference.ts'
import type { TransactionRecord } from '../../src/payment/transactionRecord.ts'
import { rollUp } from '../../src/reports/rollUp.ts'
import { findBroken } from '../kernel/checkLedger.ts'
import { openPool } from '../kernel/openKernel.ts'
import { mustAppend, openInstance } from '../store/instance.ts'
import { claimOf, fulfilmentOf, sampleAddress, sampleSettlement } from '../store/samplePayment.ts'
import { createTestDatabase } from '../support/database.ts'
import { ledgerFindings } from '../support/ledgerFindings.ts'

/* One transaction can move two accepted mints to the payment wallet. Each arrival is on record, once. */

const { serviceUrl, adminUrl } = await createTestDatabase()
const ledger = await openInstance(serviceUrl)
const admin = openPool(adminUrl, 1)
const [token, dollar] = [
  { mint: sampleSettlement().price.mint, paymentTokenAccount: sampleAddress() },
  { mint: sampleAddress(), paymentTokenAccount: sampleAddress() },
]
const treasury = sampleAddress()
const nowMs = systemClock.nowMs()

/** Finalized transactions, oldest first. Each moves its amounts of both mints to the payment wallet. */
const landed: TransactionRecord[] = []

function land(amounts: readonly [bigint, bigint], signature = newSignature(), wallet: Address = sampleAddress()) {
  const moved = [token, dollar].map((terms, index) => ({ ...terms, amountBaseUnits: amounts[index] ?? 0n }))
  const source = sampleAddress()
  landed.push({
    signature,
    slot: 10 + landed.length,
    blockTimeMs: nowMs - 60_000,
    failure: undefined,
    signers: [wallet],
    memos: [],
    movements: moved.map(({ mint, paymentTokenAccount: destination, amountBaseUnits }) => {
      return { kind: 'transfer', mint, source, destination, authority: wallet, amountBaseUnits, tokenProgram: mint }
    }),
    balances: moved.map(({ mint, paymentTokenAccount: tokenAccount, amountBaseUnits: afterBaseUnits }) => {
      return { tokenAccount, mint, ownersSeen: [], beforeBaseUnits: 0n, afterBaseUnits }
    }),
    bytes: undefined,
  })
}

function newSignature(): Signature {
  const bytes = crypto.getRandomValues(new Uint8Array(64))
  return assertPresent(readSignature(encodeBase58(bytes)), 'bytes are a signature')
}

async function scan(): Promise<void> {
  await scanWallets({
    clock: systemClock,
    log: silentLog,
    payments: ledger.payments,
    lifecycle: ledger.lifecycle,
    presentations: ledger.presentations,
    onStep: () => undefined,
    settleAgeMs: 0,
    delivery: { wallet: treasury, mint: token.mint },
    allTerms: () => [token, dollar],
    chain: {
      timeMs: () => systemClock.nowMs(),
      listSignatures({ until }) {
        const from = landed.findIndex(({ signature }) => signature === until) + 1
        const listed = landed.slice(from).map(({ signature, slot, blockTimeMs }) => {
          return { signature, slot, blockTimeMs, hasFailed: false, memo: undefined }
        })
        return Promise.resolve(listed.toReversed())
      },
      findFinalized: (signature) => Promise.resolve(landed.find((each) => each.signature === signature)),
    },
  })
}

async function walletHas({ mint }: typeof token): Promise<bigint> {
  const { rows } = await admin.query<{ balance: string }>(
    "select balance::text from ledger.accounts where mint = $1 and name = 'Assets:PaymentWallet'",
    [mint],
  )
  return BigInt(rows[0]?.balance ?? 0)
}

async function owedTo(wallet: Address): Promise<readonly [string, string][]> {
  const { rows } = await admin.query<{ mint: string; balance: string }>(
    'select a.mint, a.balance::text from ledger.accounts a where a.name = $1 order by a.balance',
    [`Liabilities:Unmatched:${wallet}`],
  )
  return rows.map(({ mint, balance }) => [mint, balance])
}

test('a transfer of two mints is owed back in both, and a delivery of the treasury counts next to dollars', async () => {
  const sender = sampleAddress()
  land([7n, 5n], undefined, sender)
  land([300n, 2n], undefined, treasury)
  await scan()
  expect([await walletHas(token), await walletHas(dollar)]).toEqual([307n, 7n])
  expect(await owedTo(sender)).toEqual([
    [token.mint, '-7'],
    [dollar.mint, '-5'],
  ])
  expect(await owedTo(treasury)).toEqual([[dollar.mint, '-2']])
  await scan()
  expect([await walletHas(token), await walletHas(dollar)]).toEqual([307n, 7n])
})

test('a payment that also brought another mint keeps its answer, and the other mint is owed back', async () => {
  const settlement = sampleSettlement()
  const { attemptId, change } = claimOf(settlement)
  const { after } = await mustAppend(ledger, change)
  await mustAppend(ledger, fulfilmentOf(settlement, { before: after, attemptId }))
  const before = [await walletHas(token), await walletHas(dollar)] as const
  const signature = assertPresent(signatureOf(settlement.reference), 'a payment is a transaction')
  land([settlement.receivedBaseUnits, 9n], signature, settlement.wallet)
  await scan()
  await scan()
  expect([await walletHas(token), await walletHas(dollar)]).toEqual([before[0], before[1] + 9n])
  expect(await owedTo(settlement.wallet)).toEqual([[dollar.mint, '-9']])
})

test('both arrivals are in the reports and clean in the audit', async () => {
  while ((await rollUp(ledger.database)) > 0);
  const { rows } = await admin.query<{ mint: string; owed: string }>(
    "select mint, sum(owed)::text as owed from reports.payments where endpoint = 'unmatched' group by mint",
  )
  expect(new Map(rows.map(({ mint, owed }) => [mint, owed]))).toEqual(
    new Map([
      [token.mint, '7'],
      [dollar.mint, '16'],
    ]),
  )
  expect(await findBroken(admin)).toEqual([])
  const codes = (await ledgerFindings(adminUrl)).map(({ code, subject }) => `${code} ${subject}`)
  expect(codes.filter((text) => /arrival|declaration|account_differs|report|lifecycle/.test(text))).toEqual([])
})
