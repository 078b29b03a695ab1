import { expect, test } from 'vitest'
import { Serving } from '../../src/paywall/serving.ts'
import { referenceNumber } from '../payment/paymentStory.ts'

test('a payment is being served until the last of its requests has ended', () => {
  const [serving, reference] = [new Serving(), referenceNumber(1)]
  {
    using _first = serving.enter(reference)
    {
      using _second = serving.enter(reference)
      expect(serving.has(reference)).toBe(true)
    }
    expect(serving.has(reference)).toBe(true)
    expect(serving.has(referenceNumber(2))).toBe(false)
  }
  expect(serving.has(reference)).toBe(false)
})
