import { expect, test, vi } from 'vitest'
import { reconcileCommand } from '../../src/cli/reconcile.ts'
import { refundCommand } from '../../src/cli/refund.ts'
import { openDiagnosis } from '../../src/diagnosis/openDiagnosis.ts'
import type { RefundOrder } from '../../src/diagnosis/recordDecision.ts'
import { type PaymentReference, signatureOf, transactionReference } from '../../src/payment/paymentReference.ts'
import { defaultSplit } from '../../src/pricing/splitSetting.ts'
import { silentLog } from '../../src/machine/log.ts'
import { readReport, readQuestion } from '../../src/reports/readReport.ts'
import { isProblems } from '../../src/reports/reportQuestion.ts'
import { rollUp } from '../../src/reports/rollUp.ts'
import { newCustomer } from '../chain/chainFixture.ts'
import { openTerminal } from '../cli/support/terminal.ts'
import { balances, finalityRound, pay, payWithoutBurn, sendTokens, serve } from '../jobs/lifecycleFixture.ts'
import { withAdminSession } from '../support/adminSession.ts'
import { afterFile } from '../support/afterFile.ts'
import { makeMemberLogin } from '../support/memberLogin.ts'
import { openPayoutFixture, planAll, sendPart } from './payoutFixture.ts'
import { ledgerFindings } from '../support/ledgerFindings.ts'

/* Refunds of single payments, from the decision to the payout, on a real ledger and a real chain. */

const environment = await openPayoutFixture('SPL Token')
const { fixture, clock, ledger, database } = environment
const { price, terms } = fixture
await ledger.priceLists.publish({ kind: 'PriceListPublished', source: 'fixed', split: defaultSplit, prices: [price] })

async function sell(more: bigint, ending: 'fulfilled' | 'released'): Promise<PaymentReference> {
  const { settlement } = await pay(environment, more)
  await serve(environment, settlement, ending)
  return settlement.reference
}

const delivered = await sell(0n, 'fulfilled')
const overpaid = await sell(500n, 'fulfilled')
const undelivered = await sell(0n, 'released')
const { settlement: whole } = await payWithoutBurn(environment)
await serve(environment, whole, 'released')
const unmatched = transactionReference(await sendTokens(environment, await newCustomer(fixture), 7_000n))
fixture.chain.advanceSlots(32)
await finalityRound(environment)

const financeUrl = await makeMemberLogin(database.adminUrl, 'tollbook_finance', 'tollbook_reader')
const decisions = await openDiagnosis({
  databaseUrl: financeUrl,
  chain: { rpcUrls: [fixture.chain.rpcUrl], tokenMint: terms.mint, paymentWallet: terms.paymentWallet },
  limits: { finance: 100_000_000n, support: 1n },
  log: silentLog,
  clock,
})
afterFile(() => decisions.close())

const order = (
  action: RefundOrder['action'],
  reference: PaymentReference,
  more: Partial<RefundOrder> = {},
): RefundOrder => {
  return {
    action,
    reference,
    by: 'mira',
    role: 'finance',
    reason: 'the customer asked',
    amountBaseUnits: undefined,
    ...more,
  }
}

/** Runs a command as the finance team does, with the environment of this ledger. */
async function run(command: typeof refundCommand, ...words: string[]) {
  vi.stubEnv('FINANCE_DATABASE_URL', financeUrl)
  vi.stubEnv('DATABASE_URL', database.serviceUrl)
  vi.stubEnv('SOLANA_RPC_URLS', fixture.chain.rpcUrl)
  vi.stubEnv('TOKEN_MINT', terms.mint)
  vi.stubEnv('PAYMENT_WALLET', terms.paymentWallet)
  try {
    return await (await openTerminal()).run(command, ...words)
  } finally {
    vi.unstubAllEnvs()
  }
}
const because = ['--reason', 'the customer asked', '--by', 'mira'] as const
const nameOf = (reference: PaymentReference) => signatureOf(reference) ?? ''

async function listed() {
  for (let step = 0; step < 10; step++) await rollUp(ledger.database)
  const question = readQuestion('refunds', {})
  if (isProblems(question)) throw new Error('the question is right')
  const { rows } = await readReport(ledger.database, {
    ...question,
    report: 'refunds',
    token: { mint: terms.mint, decimals: 6 },
  })
  return Object.fromEntries(
    rows.map(({ reference, cause, refund: state, decidedBy }) => [String(reference), [cause, state, decidedBy]]),
  )
}

test('a difference between wallet and ledger is listed transfer by transfer, each with a proposal', async () => {
  expect((await decisions.reconcile())[0]).toMatchObject({
    differenceBaseUnits: '7000',
    remainderBaseUnits: '0',
    transfers: [
      { signature: signatureOf(unmatched), baseUnits: '7000', proposal: expect.stringContaining('refund record') },
    ],
  })
})

test('the commands end with separate codes for a difference, for a refusal and for a wrong amount', async () => {
  const differs = await run(reconcileCommand)
  expect([differs.exitCode, differs.stdout]).toEqual([9, expect.stringMatching(/^Difference +0\.007$/m)])
  const refused = await run(refundCommand, 'grant', nameOf(undelivered), ...because)
  expect([refused.exitCode, refused.stdout]).toEqual([4, ''])
  expect(refused.stderr).toContain('nothing was recorded: only a delivered payment')
  const wrong = await run(refundCommand, 'grant', nameOf(delivered), ...because, '--amount', '1e3')
  expect([wrong.exitCode, wrong.stderr]).toEqual([2, expect.stringContaining('--amount')])
})

test('a booking of finance is a debt with a name and a reason, and only of what is due', async () => {
  expect(await decisions.explain(unmatched)).toMatchObject({
    diagnosis: { booking: { kind: 'unmatched' } },
    ledger: null,
  })
  expect(await decisions.explain(undelivered)).toMatchObject({
    diagnosis: { code: 'not_delivered', booking: { kind: 'refund' } },
  })
  expect(await decisions.decide(order('record', unmatched, { role: 'support' }))).toMatchObject({ recorded: false })
  expect(await decisions.decide(order('record', unmatched))).toMatchObject({
    recorded: true,
    event: 'TransferReceived',
  })
  expect(await decisions.decide(order('record', undelivered))).toMatchObject({ recorded: true, event: 'RefundDue' })
  for (const reference of [unmatched, undelivered, delivered])
    expect(await decisions.decide(order('record', reference))).toMatchObject({
      recorded: false,
      why: expect.stringContaining('nothing to record'),
    })
  expect(await listed()).toMatchObject({
    [unmatched]: ['unmatched', 'approved', 'mira'],
    [undelivered]: ['undelivered', 'approved', 'mira'],
    [overpaid]: ['overpaid', 'due', null],
  })
  expect(await decisions.reconcile()).toMatchObject([{ differenceBaseUnits: '0', transfers: [] }])
})

test('a payment of the whole price that bought nothing is owed back whole by a booking of finance, too', async () => {
  expect(await decisions.decide(order('record', whole.reference))).toMatchObject({ recorded: true, event: 'RefundDue' })
  const owed = await balances(environment)
  expect(owed[`Liabilities:RefundsDue:${whole.wallet}`]).toBe(-price.requiredBaseUnits)
  expect(owed['Liabilities:BurnOwed']).toBeUndefined()
})

test('a delivered payment is refunded by hand once, with a reason, within the limit and its price', async () => {
  const why = (text: string) => ({ recorded: false, why: expect.stringContaining(text) })
  expect(await decisions.decide(order('grant', undelivered))).toMatchObject(why('only a delivered payment'))
  expect(await decisions.decide(order('grant', delivered, { role: 'support' }))).toMatchObject(
    why('the limit of the role support'),
  )
  expect(await decisions.decide(order('grant', delivered, { reason: ' ' }))).toMatchObject(why('the reason'))
  expect(await decisions.decide(order('grant', delivered, { amountBaseUnits: 10n ** 18n }))).toMatchObject(
    why('at most the price'),
  )
  const both = await Promise.all([
    decisions.decide(order('grant', delivered)),
    decisions.decide(order('grant', delivered, { by: 'noor' })),
  ])
  expect(both.filter(({ recorded }) => recorded)).toHaveLength(1)
  expect(await decisions.decide(order('approve', delivered))).toMatchObject(why('no debt'))
  const approved = await run(refundCommand, 'approve', nameOf(overpaid), ...because)
  expect([approved.exitCode, JSON.parse(approved.stdout)]).toMatchObject([0, { event: 'RefundApproved' }])
  expect((await balances(environment))['Expenses:RefundsGranted']).toBe(price.requiredBaseUnits)
})

test('the database refuses a grant of an undelivered payment, and a decision under another login', async () => {
  await withAdminSession(database.adminUrl, async (admin) => {
    const { rows } = await admin.query<{ login: string }>('select session_user::text as login')
    const said = {
      kind: 'RefundGranted',
      schemaVersion: 1,
      version: 1,
      stream: `refund:${signatureOf(undelivered)}`,
      payment: undelivered,
      wallet: terms.paymentWallet,
      mint: terms.mint,
      amountBaseUnits: '1',
      by: 'mallory',
      role: 'finance',
      reason: 'because',
      effectiveAt: '2026-11-22T00:00:00.000Z',
      login: rows[0]?.login,
    }
    const ask = (more: object) =>
      admin.query('select * from ledger.record_refund($1)', [Buffer.from(JSON.stringify({ ...said, ...more }))])
    await expect(ask({})).rejects.toThrow('only a delivered and final payment')
    await expect(ask({ login: 'somebody_else' })).rejects.toThrow('of this login')
    await expect(ask({ kind: 'RefundApproved', debts: 'all' })).rejects.toThrow('of this login')
  })
})

test('one payout pays them all, and the audit of ledger, reports and chain finds nothing', async () => {
  const { payout } = environment
  // A granted refund has no tokens behind it: the operator covers it.
  await sendTokens(environment, await newCustomer(fixture), price.requiredBaseUnits)
  const plan = await planAll(environment)
  for (let part = 1; part <= plan.parts.length; part++)
    await payout.record(plan, await sendPart(environment, plan, part))
  expect(new Set(Object.values(await listed()).map(([, state]) => state))).toEqual(new Set(['paid']))
  const findings = await ledgerFindings(database.adminUrl)
  expect(findings.filter(({ code }) => !code.startsWith('price_'))).toEqual([])
})
