import { expect, test } from 'vitest'
import { Fault } from '@tollbook/core/fault'
import { silentLog } from '../../src/machine/log.ts'
import type { PaymentTerms } from '../../src/payment/settlement.ts'
import { startTermsHealth } from '../../src/jobs/termsHealth.ts'
import { terms as plainTerms } from '../payment/paymentStory.ts'
import { steppedClock } from '../support/steppedClock.ts'

const terms: PaymentTerms = {
  ...plainTerms,
  transferFee: () => ({ basisPoints: 100, maximumBaseUnits: 5_000n }),
}

async function problemAfter(readTerms: () => Promise<PaymentTerms>): Promise<string | undefined> {
  const clock = steppedClock()
  const watch = startTermsHealth({ clock, log: silentLog, terms, readTerms })
  await clock.step()
  const problem = watch.problem()
  await watch.stop()
  return problem
}

test('terms that are as they were close nothing', async () => {
  expect(await problemAfter(() => Promise.resolve({ ...terms }))).toBeUndefined()
})

test('a mint that was replaced closes the paid routes: prices are in the decimals of the old one', async () => {
  expect(await problemAfter(() => Promise.resolve({ ...terms, decimals: 9 }))).toMatch(/has changed/)
})

test('another transfer fee closes nothing: it is asked for at each use', async () => {
  const raised = { ...terms, transferFee: () => ({ basisPoints: 200, maximumBaseUnits: 5_000n }) }
  expect(await problemAfter(() => Promise.resolve(raised))).toBeUndefined()
})

test('a mint that payments can no longer be proved with closes them with its reason', async () => {
  expect(await problemAfter(() => Promise.reject(new Fault('a pausable mint', { retryable: false })))).toBe(
    'a pausable mint',
  )
})

test('a node that does not answer reports nothing about the mint', async () => {
  expect(await problemAfter(() => Promise.reject(new Fault('no node answered', { retryable: true })))).toBeUndefined()
})
