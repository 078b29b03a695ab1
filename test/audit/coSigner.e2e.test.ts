import { expect, test } from 'vitest'
import { audit } from '@tollbook/audit/audit'
import { noFinalityMemory, recordFinality } from '../../src/jobs/finalityJob.ts'
import { scanTransfers } from '../../src/jobs/transferScanJob.ts'
import { systemClock } from '@tollbook/core/clock'
import { transferOf } from '../chain/labTokens.ts'
import { newCustomer } from '../chain/paymentLab.ts'
import { balances, onChain, openLifeGround, pay, serve } from '../jobs/lifeGround.ts'

const ground = await openLifeGround('SPL Token')
const { lab, deps, clock } = ground
const settleAgeMs = 3_600_000

test('the transfer of a co-signer in a payment is owed to the wallet that paid, and the ledger equals the chain', async () => {
  const friend = await newCustomer(lab)
  const along = { instructions: [transferOf(lab, friend, { send: 123n })], signers: [friend.keypair] }
  const { settlement } = await pay(ground, 0n, undefined, along)
  await serve(ground, settlement)
  lab.chain.advanceSlots(40)
  await recordFinality(deps, noFinalityMemory())
  clock.advance(settleAgeMs + 1_000)
  await scanTransfers({ ...deps, terms: lab.terms, settleAgeMs })
  const booked = await balances(ground)
  expect(booked['Assets:PaymentWallet']).toBe(await onChain(ground))
  expect(booked[`Liabilities:Overpaid:${settlement.wallet}`]).toBe(-123n)

  const { paymentWallet } = lab.terms
  const { findings, verdicts } = await audit({
    source: { kind: 'database', url: ground.database.serviceUrl },
    verifierKeys: [],
    ownCheckpoints: [],
    transactions: true,
    resumeFile: undefined,
    clock: systemClock,
    chain: { rpcUrl: lab.chain.rpcUrl, paymentWallet, bookedWithinMs: 0, fetch: globalThis.fetch },
  })
  expect(findings.filter(({ code }) => !code.startsWith('price_'))).toEqual([])
  expect(verdicts.completeness.status).toBe('holds')
  expect(verdicts.chainTruth.status).toBe('holds')
})

test('a payment that only a co-signer makes large enough is none', async () => {
  const friend = await newCustomer(lab)
  const along = { instructions: [transferOf(lab, friend)], signers: [friend.keypair] }
  await expect(pay(ground, -1n, undefined, along)).rejects.toThrow(/received .* required/)
})
