import {
  createEnableRequiredMemoTransfersInstruction,
  createReallocateInstruction,
  ExtensionType,
} from '@solana/spl-token'
import { expect, test } from 'vitest'
import { audit } from '@tollbook/audit/audit'
import type { AuditReport } from '@tollbook/audit/auditReport'
import { readHolderSnapshot } from '@tollbook/audit/holderSnapshot'
import { assertPresent } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import type { PayoutPlan } from '../../src/accounting/payoutPlan.ts'
import { openDatabase } from '../../src/store/database.ts'
import { readAttempts } from '../../src/store/holderPayoutStore.ts'
import { silentLog } from '../../src/machine/log.ts'
import { addressOf, land, newCustomer, withheld } from '../chain/chainFixture.ts'
import { balances, onChain, pay, serve } from '../jobs/lifecycleFixture.ts'
import { afterFile } from '../support/afterFile.ts'
import { makeDebts, openPayoutFixture, planAll, tokensOf } from './payoutFixture.ts'

/* One ledger and one chain; the tests follow each other. */

const environment = await openPayoutFixture('Token-2022 with a transfer fee')
const { fixture, payout, destinations, database } = environment
const share = 'Liabilities:Share:holders'
const treasury = assertPresent(destinations.get('treasury'), 'the treasury has a wallet')
await makeDebts(environment)
const customers = await Promise.all(
  Array.from({ length: 17 }, (_, index) => newCustomer(fixture, 1_000n + BigInt(index))),
)
const holders = customers.map(({ address }) => addressOf(address))

const session = openDatabase({
  databaseUrl: environment.payoutUrl,
  applicationName: 'holders test',
  connectionsMax: 1,
  log: silentLog,
})
afterFile(() => session.destroy())

const owed = async () => -((await balances(environment))[share] ?? 0n)
const request = { share: 'holders', excluded: [treasury], minimumBaseUnits: 1_000n, openAccountsMax: 0 }
const { text: snapshotText, accounts } = await payout.holders.snapshot()

/** Stops before anything is sent, or after everything was sent and nothing recorded. */
function payAll(plan: PayoutPlan, stop?: 'before' | 'after'): Promise<void> {
  const stopping = new AbortController()
  if (stop === 'before') stopping.abort(new Error('stopped by the test'))
  return payout.holders.pay({
    plan,
    feePayer: fixture.terms.paymentWallet,
    signers: [fixture.paymentWallet],
    signal: stopping.signal,
    onProgress: () => {
      if (stop === 'after') stopping.abort(new Error('stopped by the test'))
    },
  })
}

async function planHolders(changes: Partial<typeof request> = {}): Promise<PayoutPlan> {
  return assertPresent(await payout.holders.plan({ ...request, ...changes, snapshotText }), 'the share is owed')
}

async function auditLedger(withSnapshot: boolean) {
  const snapshot = assertPresent(readHolderSnapshot(snapshotText), 'the audit reads the snapshot')
  return audit({
    source: { kind: 'database', url: database.adminUrl },
    verifierKeys: [],
    ownCheckpoints: [],
    snapshots: withSnapshot ? [snapshot] : [],
    transactions: true,
    chain: { rpcUrl: fixture.chain.rpcUrl, fetch, paymentWallet: fixture.terms.paymentWallet, recordedWithinMs: 0 },
    resumeFile: undefined,
    clock: systemClock,
  })
}

test('a snapshot has every token account, and wallets of ours and small balances are not paid', async () => {
  const plan = await planHolders()
  expect(accounts).toBeGreaterThan(holders.length)
  const lines = plan.parts.flat()
  const paid = new Set<string>(lines.map(({ wallet }) => wallet))
  for (const holder of holders) expect(paid.has(holder)).toBe(true)
  for (const own of [treasury, fixture.terms.paymentWallet]) expect(paid.has(own)).toBe(false)
  expect(lines.reduce((sum, { baseUnits }) => sum + baseUnits, 0n)).toBe(await owed())
  const fewer = await planHolders({ minimumBaseUnits: 1_010n })
  expect(lines.length - fewer.parts.flat().length).toBe(10)
  await expect(payout.holders.plan({ ...request, snapshotText: `${snapshotText}\n` })).rejects.toThrow(/snapshot/)
})

test('a payout that is stopped continues, pays each line once, and leaves the ledger equal to the chain', async () => {
  const amount = await owed()
  const plan = await planHolders()
  const before = new Map(
    await Promise.all(holders.map(async (wallet) => [wallet, await tokensOf(environment, wallet)] as const)),
  )
  for (const stop of ['before', 'after', 'after'] as const)
    await expect(payAll(plan, stop)).rejects.toThrow('stopped by the test')
  const attempts = await readAttempts(session, plan.id)
  expect(attempts.map(({ part }) => part)).toEqual(plan.parts.map((_, index) => index + 1))

  // In the meantime nothing else can pay the share.
  await expect(planHolders()).rejects.toThrow(/is open|not in the ledger/)
  await payAll(plan)
  await payAll(plan)
  expect(await readAttempts(session, plan.id)).toEqual(attempts)
  expect(await owed()).toBe(0n)
  const paid = new Map(plan.parts.flat().map(({ wallet, baseUnits }) => [wallet, baseUnits]))
  for (const wallet of holders) {
    const line = paid.get(wallet) ?? 0n
    expect((await tokensOf(environment, wallet)) - (before.get(wallet) ?? 0n)).toBe(line - withheld(fixture, line))
  }
  expect([...paid.values()].reduce((sum, line) => sum + line, 0n)).toBe(amount)
  expect((await balances(environment))['Assets:PaymentWallet']).toBe(await onChain(environment))
  await expect(payout.holders.end(plan)).rejects.toThrow(/is not open/)
})

test('the audit derives each line from the snapshot, and says what it cannot check without it', async () => {
  // The fixture has payments without a price list.
  const codesOf = ({ findings }: AuditReport) => new Set(findings.map(({ code }) => code))
  const [whole, partial] = [await auditLedger(true), await auditLedger(false)]
  expect(codesOf(whole)).toEqual(new Set(['price_not_published']))
  expect(whole.verdicts.arithmetic.checked).toContainEqual(expect.stringContaining('1 payouts to holders'))
  expect(codesOf(partial)).toEqual(new Set(['price_not_published']))
  expect(partial.verdicts.arithmetic.notChecked).toContainEqual(expect.stringContaining('no --snapshot'))
})

test('while a plan is open no other plan pays the share; a part that fails is reported, and its lines stay owed', async () => {
  const { settlement } = await pay(environment)
  await serve(environment, settlement)
  const [plan, amount] = [await planHolders(), await owed()]
  await expect(payAll(plan, 'before')).rejects.toThrow('stopped by the test')
  expect((await planAll(environment)).parts.flat().map(({ account }) => account)).not.toContain(share)
  const other = await planHolders({ minimumBaseUnits: 1_010n }).catch((error: unknown) => String(error))
  expect(other).toContain('is open')

  // The holder requires a memo directly in front of each transfer, so its part cannot be paid.
  const { keypair, account } = assertPresent(customers[3], 'there is a fourth holder')
  const { publicKey: owner } = keypair
  await land(
    fixture,
    [
      createReallocateInstruction(account, owner, [ExtensionType.MemoTransfer], owner, [], fixture.program),
      createEnableRequiredMemoTransfersInstruction(account, owner, [], fixture.program),
    ],
    [keypair],
  )
  await expect(payAll(plan)).rejects.toThrow(/1 parts failed on chain.*all others are paid/)
  const part = assertPresent(
    plan.parts.find((lines) => lines.some(({ wallet }) => wallet === addressOf(owner))),
    'the holder has a line',
  )
  const unpaid = part.reduce((sum, { baseUnits }) => sum + baseUnits, 0n)
  expect(await owed()).toBe(unpaid)
  await payout.holders.end(plan)
  expect(await owed()).toBe(unpaid)
  expect(amount).toBeGreaterThan(unpaid)
  await expect(payAll(plan)).rejects.toThrow(/was ended/)
  const findings = (await auditLedger(true)).findings.map(({ code }) => code)
  expect(new Set(findings)).toEqual(new Set(['price_not_published']))
})
