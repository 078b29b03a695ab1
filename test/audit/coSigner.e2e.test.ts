import { expect, test } from 'vitest'
import { audit } from '../../src/audit/audit.ts'
import { noFinalityMemory, watchFinality } from '../../src/jobs/finalityWatch.ts'
import { scanTransfers } from '../../src/jobs/transferScan.ts'
import { systemClock } from '../../src/primitives/clock.ts'
import { transferOf } from '../chain/labTokens.ts'
import { newCustomer } from '../chain/paymentLab.ts'
import { balances, onChain, openLifeGround, pay, serve } from '../jobs/lifeGround.ts'

const ground = await openLifeGround('SPL Token')
const { lab, deps, clock } = ground
const settleAgeMs = 3_600_000

test('what a co-signer sends beside a payment is not booked, and an audit names it to the base unit', async () => {
  const friend = await newCustomer(lab)
  const along = { instructions: [transferOf(lab, friend, { send: 123n })], signers: [friend.keypair] }
  const { settlement } = await pay(ground, 0n, undefined, along)
  await serve(ground, settlement)
  lab.chain.advanceSlots(40)
  await watchFinality(deps, noFinalityMemory())
  clock.advance(settleAgeMs + 1_000)
  await scanTransfers({ ...deps, terms: lab.terms, settleAgeMs })
  expect((await onChain(ground)) - ((await balances(ground))['Assets:PaymentWallet'] ?? 0n)).toBe(123n)

  const { findings, verdicts } = await audit({
    source: { kind: 'database', url: ground.database.serviceUrl },
    verifierKeys: [],
    keptCheckpoints: [],
    transactions: true,
    resumeFile: undefined,
    clock: systemClock,
    chain: {
      rpcUrl: lab.chain.rpcUrl,
      bookedWithinMs: 0,
      paymentWallet: lab.terms.paymentWallet,
      fetch: globalThis.fetch,
    },
  })
  expect(findings.filter(({ code }) => !code.startsWith('price_'))).toEqual([
    expect.objectContaining({
      code: 'not_in_the_book',
      position: 1,
      subject: settlement.signature,
      message: '123 more arrived with the payment than is booked of it',
    }),
  ])
  expect(verdicts.completeness.status).toBe('broken')
})
