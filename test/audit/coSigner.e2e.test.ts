import { expect, test } from 'vitest'
import { audit } from '@tollbook/audit/audit'
import { noFinalityMemory, recordFinality } from '../../src/jobs/finalityJob.ts'
import { scanTransfers } from '../../src/jobs/transferScanJob.ts'
import { systemClock } from '@tollbook/core/clock'
import { transferOf } from '../chain/fixtureTokens.ts'
import { newCustomer } from '../chain/chainFixture.ts'
import { balances, onChain, openLifecycleFixture, pay, serve } from '../jobs/lifecycleFixture.ts'

const environment = await openLifecycleFixture('SPL Token')
const { fixture, deps, clock } = environment
const settleAgeMs = 3_600_000

test('the transfer of a co-signer in a payment is owed to the wallet that paid, and the ledger equals the chain', async () => {
  const friend = await newCustomer(fixture)
  const along = { instructions: [transferOf(fixture, friend, { send: 123n })], signers: [friend.keypair] }
  const { settlement } = await pay(environment, 0n, undefined, along)
  await serve(environment, settlement)
  fixture.chain.advanceSlots(40)
  await recordFinality(deps, noFinalityMemory())
  clock.advance(settleAgeMs + 1_000)
  await scanTransfers({ ...deps, terms: fixture.terms, settleAgeMs })
  const booked = await balances(environment)
  expect(booked['Assets:PaymentWallet']).toBe(await onChain(environment))
  expect(booked[`Liabilities:Overpaid:${settlement.wallet}`]).toBe(-123n)

  const { paymentWallet } = fixture.terms
  const { findings, verdicts } = await audit({
    source: { kind: 'database', url: environment.database.serviceUrl },
    verifierKeys: [],
    ownCheckpoints: [],
    transactions: true,
    resumeFile: undefined,
    clock: systemClock,
    chain: { rpcUrl: fixture.chain.rpcUrl, paymentWallet, recordedWithinMs: 0, fetch: globalThis.fetch },
  })
  expect(findings.filter(({ code }) => !code.startsWith('price_'))).toEqual([])
  expect(verdicts.completeness.status).toBe('holds')
  expect(verdicts.chainTruth.status).toBe('holds')
})

test('a payment that only a co-signer makes large enough is none', async () => {
  const friend = await newCustomer(fixture)
  const along = { instructions: [transferOf(fixture, friend)], signers: [friend.keypair] }
  await expect(pay(environment, -1n, undefined, along)).rejects.toThrow(/received .* required/)
})
