import { expect, test } from 'vitest'
import { BodyReader, UnreadableBody } from '@tollbook/audit/bodyReader'

function amountIn(digits: string): bigint {
  return new BodyReader(`"${digits}"`).amount('')
}

// The audit keeps amounts in 64 bits: a larger one would be compared without its upper part.
test('an amount of more base units than a token account can hold is unreadable', () => {
  expect(amountIn('18446744073709551615')).toBe(2n ** 64n - 1n)
  expect(() => amountIn('18446744073709551616')).toThrow(UnreadableBody)
  expect(() => amountIn('99999999999999999999')).toThrow(UnreadableBody)
})
