import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import type { PayableRequest } from '../../packages/client/src/payableRequest.ts'
import type { PaymentStore } from '../../packages/client/src/paymentStore.ts'
import { createSharedTurns } from '../../packages/client/src/sharedTurns.ts'

test('a turn lasts until its call and the open payment of the call have both ended', async () => {
  let ended = 0
  const takeTurn = () => Promise.resolve({ answered: [], end: () => Promise.resolve(void ended++) })
  // Turns use nothing else of the store, and of a request its key and its signal.
  const turns = createSharedTurns({ takeTurn } as unknown as PaymentStore)
  const request = { signal: new AbortController().signal } as PayableRequest
  const { turn } = await turns.join('order', request)
  const held = turns.hold('order')
  expect(held).toBe(turn)
  await turns.leave(turn)
  expect(ended, 'the payment is still open').toBe(0)
  await turns.leave(turn)
  expect([ended, turns.hold('order')]).toEqual([1, undefined])
})

test('what others left is for the call that waited, and not for one that joins its turn later', async () => {
  const left = [{ signature: 's' }]
  const takeTurn = () => Promise.resolve({ answered: left, end: () => Promise.resolve() })
  const turns = createSharedTurns({ takeTurn } as unknown as PaymentStore)
  const request = { signal: new AbortController().signal } as PayableRequest
  const [first, second] = [await turns.join('order', request), await turns.join('order', request)]
  expect([first.answered, second.answered, second.turn === first.turn]).toEqual([left, [], true])
  // A key of the caller makes another order, which waits like another process.
  const keyed = await turns.join('order', { ...request, idempotencyKey: 'mine' })
  expect([keyed.answered, keyed.turn === first.turn]).toEqual([left, false])
})

test('a call leaves no listener on its signal, neither with its turn nor after a turn that could not begin', async () => {
  const { signal } = new AbortController()
  const request = { signal } as PayableRequest
  const joinWith = (takeTurn: () => Promise<unknown>) =>
    createSharedTurns({ takeTurn } as unknown as PaymentStore).join('order', request)
  await joinWith(() => Promise.resolve({ answered: [], end: () => Promise.resolve() }))
  expect(getEventListeners(signal, 'abort')).toEqual([])
  await expect(joinWith(() => Promise.reject(new Error('locked')))).rejects.toThrow('locked')
  expect(getEventListeners(signal, 'abort')).toEqual([])
})
