import { expect, test } from 'vitest'
import { assert, assertNever, assertPresent, Bug } from '@tollbook/core/assert'
import { codeText, describeError, errorText, Fault } from '@tollbook/core/fault'

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

test('a thrown value that JSON cannot write is described too', () => {
  const cycle: { self?: unknown } = {}
  cycle.self = cycle
  expect(describeError(12n)).toBe('12')
  expect(describeError(new Error('outer', { cause: cycle }))).toBe('Error: outer <- [object Object]')
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

const retryable = false

test('the text for a person names each cause, without the classes of the errors', () => {
  const cause = new Fault('the node refused', { cause: new TypeError('fetch failed'), retryable })
  expect(errorText(new Fault('the chain is unknown', { cause, retryable }))).toBe(
    'the chain is unknown: the node refused: fetch failed',
  )
})

test('a cause that the message has already named is not repeated', () => {
  const cause = new Error('disk full')
  expect(errorText(new Fault('cannot be written: disk full', { cause, retryable }))).toBe(
    'cannot be written: disk full',
  )
})

test('an error of several attempts is described by its attempts, because its own message is empty', () => {
  // Node throws this for a name with an address of IPv6 and one of IPv4.
  const attempts = [new Error('connect ECONNREFUSED ::1:5432'), new Error('connect ECONNREFUSED 127.0.0.1:5432')]
  expect(errorText(new Fault('no database', { cause: new AggregateError(attempts), retryable }))).toBe(
    'no database: connect ECONNREFUSED ::1:5432, connect ECONNREFUSED 127.0.0.1:5432',
  )
})

test('a code of the system may be shown, also from a cause, and any other text of an error may not', () => {
  const withCode = (code: unknown) => Object.assign(new Error('password of 10.0.0.1'), { code })
  expect(codeText(withCode('28P01'))).toBe(' (28P01)')
  expect(codeText(new Error('it failed', { cause: withCode('ECONNREFUSED') }))).toBe(' (ECONNREFUSED)')
  for (const code of ['10.0.0.1:5432', 'user', '', 'A'.repeat(33), 7, undefined])
    expect(codeText(withCode(code))).toBe('')
})
