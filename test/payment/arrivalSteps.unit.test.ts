import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { assertPresent } from '@tollbook/core/assert'
import { decideArrival } from '../../src/payment/finality.ts'
import { evolveAll, unknownPayment } from '../../src/payment/payment.ts'
import { readDeclaration } from '../kernel/declaration.ts'
import { mint, wallet } from './paymentStory.ts'

test('the decider of second arrivals reaches exactly the steps that the ledger allows, and each once', async () => {
  const { steps } = await readDeclaration(fileURLToPath(new URL('../../migrations/kinds', import.meta.url)))
  const transfer = { wallet, mint, receivedBaseUnits: 1n, slot: 1 }
  const reached = [undefined, { wallet, mint }].map((source) => {
    const { step, events } = assertPresent(decideArrival(unknownPayment, transfer, source), 'an arrival is recorded')
    const after = evolveAll(unknownPayment, events, 0)
    expect(decideArrival(after, transfer, source)).toBeUndefined()
    return [step, after.phase, events.map(({ kind }) => kind)]
  })
  const declared = steps.filter(({ kind }) => kind === 'arrival')
  expect(declared.map(({ step, toState, eventKinds }) => [step, toState, eventKinds])).toEqual(reached)
})
