import { expect, test } from 'vitest'
import { assert, assertNever, assertPresent, Bug } from '@tollbook/core/assert'
import { describeError, Fault } from '@tollbook/core/fault'

test('a fault keeps its cause and says whether trying again may help', () => {
  const cause = new Error('socket hang up')
  const fault = new Fault('the node did not answer', { cause, retryable: true })
  expect(fault.retryable).toBe(true)
  expect(describeError(fault)).toBe('Fault: the node did not answer <- Error: socket hang up')
})

test('describing an error ends even where causes run in a ring', () => {
  const ring = new Error('ring')
  ring.cause = ring
  expect(describeError(ring).split('<-')).toHaveLength(5)
  expect(describeError('thrown text')).toBe('"thrown text"')
})

test('an assertion that fails is a bug and says what was expected', () => {
  expect(() => assert(false, 'the trial balance is zero')).toThrow(Bug)
  expect(() => assert(false, 'the trial balance is zero')).toThrow('expected that the trial balance is zero')
  expect(() => assertPresent(null, 'a head exists')).toThrow('expected that a head exists')
  expect(assertPresent(0, 'zero is something')).toBe(0)
})

test('a switch that is not closed is a bug', () => {
  const kind: 'old' = JSON.parse('"new"')
  expect(() => {
    if (kind !== 'old') assertNever(kind)
  }).toThrow('every case is handled, got "new"')
})
