import { Keypair } from '@solana/web3.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuditReport, exitCodeOf } from '@tollbook/audit/auditReport'
import { isoTime } from '@tollbook/core/clock'
import type { Settlement } from '../../src/payment/settlement.ts'
import {
  accountOf,
  type ChainFixture,
  land,
  newCustomer,
  openAccount,
  openChainFixture,
  stage,
} from './chainFixture.ts'
import { payment, transferChecked } from './fixtureTokens.ts'
import { auditPayments, type RecordedSetting } from './judges/auditPayments.ts'
import { priceOnly, recordedAs } from './judges/recordedAs.ts'

/* Payments to the payment wallets of their periods, audited against a node. */

const hourMs = 3_600_000
const finalSlots = 40
let fixture: ChainFixture
let paidNew: Settlement
let paidOld: Settlement
let newWallet: string

beforeAll(async () => {
  fixture = await openChainFixture('SPL Token')
  const receiver = Keypair.generate()
  const account = accountOf(fixture, receiver.publicKey)
  await stage(fixture, [openAccount(fixture, { ...fixture, owner: receiver.publicKey })])
  newWallet = receiver.publicKey.toBase58()
  paidOld = await pay(fixture)
  paidNew = await pay({ ...fixture, paymentAccount: account })
  // The operator moves the rest of the old wallet to the new one: no event records that.
  const { paymentAccount: from, paymentWallet } = fixture
  const move = transferChecked(fixture, { from, by: paymentWallet.publicKey, to: account, amount: 5n })
  await stage(fixture, [move], [paymentWallet])
  fixture.chain.advanceSlots(finalSlots)
})
afterAll(() => fixture.chain.close())

async function pay(paid: ChainFixture): Promise<Settlement> {
  const payer = await newCustomer(paid)
  const signature = await land(paid, payment(paid, payer), [payer.keypair])
  return recordedAs(paid, { signature, wallet: payer.address }, () => priceOnly(paid))
}

const signatureOf = ({ reference }: Settlement) => reference.replace('solana:', '')

function audited(settings: readonly RecordedSetting[], settlements = [paidOld, paidNew]): Promise<AuditReport> {
  return auditPayments(fixture, { settlements, settings })
}

function firstWallet(): RecordedSetting {
  const validFromMs = paidOld.evidence.blockTimeMs - 10 * hourMs
  return { name: 'payment-wallet', number: 1, validFromMs, value: fixture.terms.paymentWallet }
}

/** In force two hours ago; the old wallet is accepted until that much later than its payment. */
function secondWallet(untilMs: number): RecordedSetting {
  const { blockTimeMs } = paidOld.evidence
  const value = { previousUntil: isoTime(blockTimeMs + untilMs), wallet: newWallet }
  return { name: 'payment-wallet', number: 2, validFromMs: blockTimeMs - 2 * hourMs, value }
}

test('an announced change of the payment wallet leaves nothing to find', async () => {
  const report = await audited([firstWallet(), secondWallet(hourMs)])
  expect(report.findings).toEqual([])
  expect(exitCodeOf(report)).toBe(0)
})

test('a silent change is found: the payment, and the tokens that left', async () => {
  const { findings, verdicts } = await audited([firstWallet()])
  expect(findings.map(({ code }) => code).toSorted()).toEqual(['not_in_the_ledger', 'transaction_contradicts'])
  expect(verdicts.chainTruth.firstBad?.message).toMatch(/^0 arrived/)
})

test('a mint with its own wallet is not paid to the wallet of the token', async () => {
  const ofMint = { ...firstWallet(), name: `payment-wallet/${fixture.terms.mint}`, value: newWallet }
  const { findings } = await audited([firstWallet(), ofMint])
  expect(findings.map(({ code, subject }) => [code, subject])).toEqual([
    ['transaction_contradicts', signatureOf(paidOld)],
  ])
})

test('a payment to the old wallet after its time is found', async () => {
  const { findings } = await audited([firstWallet(), secondWallet(-hourMs)])
  expect(findings.map(({ code }) => code)).toEqual(['transaction_contradicts'])
})
