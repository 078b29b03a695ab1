import { createTransferCheckedInstruction } from '@solana/spl-token'
import { Keypair } from '@solana/web3.js'
import { beforeAll, expect, test } from 'vitest'
import { assertPresent } from '@tollbook/core/assert'
import { isoTime, systemClock } from '@tollbook/core/clock'
import { scanTransfers } from '../../src/jobs/transferScanJob.ts'
import { openPayout, type Payout } from '../../src/payout/openPayout.ts'
import { valueWithOverlap } from '../../src/settings/settingPeriods.ts'
import { silentLog } from '../../src/machine/log.ts'
import { openSettingChanges } from '../../src/store/settingChanges.ts'
import { tokenAccountOf } from '../../src/chain/walletTerms.ts'
import {
  accountOf,
  addressOf,
  decimals,
  giveSol,
  land,
  newCustomer,
  openAccount,
  stage,
} from '../chain/chainFixture.ts'
import { balances, sendTokens } from '../jobs/lifecycleFixture.ts'
import { afterFile } from '../support/afterFile.ts'
import { makeMemberLogin } from '../support/memberLogin.ts'
import { makeDebts, openPayoutFixture, type PayoutFixture, planAll, sendPart } from './payoutFixture.ts'

const next = Keypair.generate()
let environment: PayoutFixture
/** Started with the new PAYMENT_WALLET. */
let payout: Payout

/** The ledger has debts, the old wallet has the tokens, and another wallet is in force. */
beforeAll(async () => {
  environment = await openPayoutFixture('SPL Token')
  const { fixture, ledger, database } = environment
  await makeDebts(environment)
  await stage(fixture, [giveSol(fixture, next.publicKey), openAccount(fixture, { ...fixture, owner: next.publicKey })])
  await ledger.settings.record([{ name: 'payment-wallet', value: fixture.terms.paymentWallet }])
  const operator = await openSettingChanges({
    databaseUrl: await makeMemberLogin(database.adminUrl, 'tollbook_operator'),
    log: silentLog,
  })
  const validFrom = isoTime(systemClock.nowMs())
  const event = {
    kind: 'SettingChanged',
    name: 'payment-wallet',
    number: 2,
    validFrom,
    value: valueWithOverlap('payment-wallet', addressOf(next.publicKey), validFrom),
  } as const
  await operator.change({ step: 'setting.change', name: 'payment-wallet', number: 2, events: [event] })
  await operator.close()
  payout = await openWith(addressOf(next.publicKey))
})

async function openWith(paymentWallet: string): Promise<Payout> {
  const { fixture, payoutUrl, clock } = environment
  const opened = await openPayout({
    databaseUrl: payoutUrl,
    rpcUrls: fixture.chain.nodes.map(({ rpcUrl }) => rpcUrl),
    tokenMint: fixture.terms.mint,
    paymentWallet,
    clock,
    log: silentLog,
  })
  afterFile(() => opened.close())
  return opened
}

function transferToNext(baseUnits: bigint) {
  const { fixture } = environment
  const { paymentAccount, mint, program } = fixture
  const owner = fixture.paymentWallet.publicKey
  const account = accountOf(fixture, next.publicKey)
  return createTransferCheckedInstruction(paymentAccount, mint, account, owner, baseUnits, decimals, [], program)
}

const request = () => ({ destinations: environment.destinations, leastBaseUnits: 0n })

test('no payout is planned out of a wallet that is not in force or not on record', async () => {
  const { fixture, payout: old } = environment
  await expect(old.plan(request())).rejects.toThrow(
    `the payment wallet of the ledger is ${next.publicKey.toBase58()} since`,
  )
  const stranger = await newCustomer(fixture)
  const unknown = await openWith(stranger.address.toBase58())
  await expect(unknown.plan(request())).rejects.toThrow('is not on record')
})

test('a plan that the new wallet cannot pay is refused, and names what the old wallet holds', async () => {
  const { fixture } = environment
  const refusal = payout.plan(request())
  await expect(refusal).rejects.toThrow(new RegExp(`${next.publicKey.toBase58()} holds 0`))
  await expect(payout.plan(request())).rejects.toThrow(new RegExp(`${fixture.terms.paymentWallet} holds \\d`))
})

test('the old wallet pays on purpose, and an outflow of it that is not recorded is still noticed', async () => {
  const { payout: old } = environment
  const { plan: created } = await old.plan({ ...request(), fromOldWallet: true })
  const plan = assertPresent(created, 'something is owed')
  const signature = await sendPart(environment, plan, 1)
  await expect(payout.plan(request()), 'seen from the new wallet').rejects.toThrow(signature)
  await old.record(plan, signature)
  expect(plan.paymentWallet).toBe(environment.fixture.terms.paymentWallet)
  const shares = Object.keys(await balances(environment)).filter((name) => name.startsWith('Liabilities:Share:'))
  expect(shares).toEqual([])
})

test('what is left moves to the new wallet without an event, and a late payer is still found at the old one', async () => {
  const { fixture, deps, clock, steps } = environment
  const { terms } = fixture
  const before = await balances(environment)
  const left = before['Assets:PaymentWallet'] ?? 0n
  await land(fixture, [transferToNext(left)], [fixture.paymentWallet])
  await sendTokens(environment, await newCustomer(fixture), 9_000n)
  fixture.chain.advanceSlots(32)
  clock.advance(3_700_000)
  const newTerms = { mint: terms.mint, paymentTokenAccount: tokenAccountOf(terms, addressOf(next.publicKey)) }
  const ownAccounts = [terms.paymentTokenAccount, newTerms.paymentTokenAccount]
  const stepsBefore = steps.length
  for (const each of [terms, newTerms])
    await scanTransfers({ ...deps, terms: each, ownAccounts, settleAgeMs: 3_600_000 })
  expect(steps.slice(stepsBefore)).toEqual(['unmatched'])
  const after = await balances(environment)
  expect((after['Assets:PaymentWallet'] ?? 0n) - left, 'only the late payment').toBe(9_000n)
})

test('once all tokens are in the new wallet, it pays every debt that is left', async () => {
  const { fixture } = environment
  await land(fixture, [transferToNext(9_000n)], [fixture.paymentWallet])
  const ofNext = { ...environment, payout, fixture: { ...fixture, paymentWallet: next, terms: payout.terms } }
  const plan = await planAll(ofNext)
  expect(plan.paymentWallet).toBe(next.publicKey.toBase58())
  for (const index of plan.parts.keys()) await payout.record(plan, await sendPart(ofNext, plan, index + 1))
  const after = await balances(environment)
  expect(Object.keys(after).filter((name) => /^(Liabilities|Assets):/.test(name))).toEqual([])
})
