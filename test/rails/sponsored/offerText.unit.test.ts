import { expect, test } from 'vitest'
import { memoOfSecret } from '@tollbook/core/binding'
import { createOfferTexts, newBinding } from '../../../src/rails/sponsored/offerText.ts'

test('the text of an offer is written once for each price list and key, and each offer has its own memo and secret', () => {
  const texts = createOfferTexts()
  let written = 0
  const offer = (priceList: number, key: string) =>
    texts.of({ priceList }, key, ({ memo, secret }) => {
      written++
      return JSON.stringify({ priceList, key, memo, secret, again: memo })
    })
  const bindings = [newBinding(), newBinding()]
  for (const { memo, secret } of bindings) {
    expect(memo).toBe(memoOfSecret(secret))
    const text = offer(1, 'one')({ memo, secret })
    expect(JSON.parse(text)).toEqual({ priceList: 1, key: 'one', memo, secret, again: memo })
  }
  expect(new Set(bindings.map(({ secret }) => secret)).size).toBe(2)
  expect(written).toBe(1)
  offer(1, 'other')
  offer(2, 'one')
  offer(1, 'one')
  expect(written).toBe(4)
})
