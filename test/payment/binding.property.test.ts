import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { bindSecret, memoOfSecret } from '@tollbook/core/binding'
import { memoPrefix } from '@tollbook/core/quote'
import { isRefusal } from '@tollbook/core/refusal'
import { randomToken } from '@tollbook/core/id'

const secrets = fc.constant(undefined).map(() => randomToken())
const others = fc.string({ unit: 'binary' }).filter((memo) => !memo.startsWith(memoPrefix))
const tollbook = fc.string().map((rest) => memoPrefix + rest)

test('a memo opens with the secret behind it and with no other', () => {
  fc.assert(
    fc.property(secrets, secrets, fc.array(others, { maxLength: 4 }), (secret, another, memos) => {
      const memo = memoOfSecret(secret)
      expect(bindSecret([...memos, memo], secret)).toEqual({ memo })
      expect(bindSecret([memo, ...memos], another)).toMatchObject({ reason: 'secret_mismatch' })
      expect(bindSecret([memo, ...memos], undefined)).toMatchObject({ reason: 'secret_required' })
    }),
  )
})

test('memos of other services bind nothing, and a secret with them proves nothing', () => {
  fc.assert(
    fc.property(secrets, fc.array(others, { maxLength: 4 }), (secret, memos) => {
      expect(bindSecret(memos, undefined)).toEqual({ memo: undefined })
      expect(bindSecret(memos, secret)).toMatchObject({ reason: 'memo_missing' })
    }),
  )
})

test('whatever the memos are, one that begins with tollbook: is never taken for a plain payment', () => {
  const memoLists = fc.array(fc.oneof(others, tollbook), { maxLength: 5 })
  fc.assert(
    fc.property(memoLists, fc.option(secrets, { nil: undefined }), (memos, secret) => {
      const bound = bindSecret(memos, secret)
      if (isRefusal(bound)) return
      expect(memos.some((memo) => memo.startsWith(memoPrefix))).toBe(bound.memo !== undefined)
      expect(memos.filter((memo) => memo.startsWith(memoPrefix)).length).toBeLessThanOrEqual(1)
    }),
  )
})

test('the memo of a secret is sha256 of its text, 52 bytes long, so that other programs can make it too', () => {
  expect(memoOfSecret('AAAAAAAAAAAAAAAAAAAAAA')).toBe('tollbook:ilvbTMFRZBJsbvJmjendJA0pnOY5ekLJWpQRuT0IDtg')
})
