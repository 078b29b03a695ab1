import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Clock, systemClock } from '@tollbook/core/clock'
import { sha256Hex } from '@tollbook/core/digest'
import { Fault } from '@tollbook/core/fault'
import { createStreamReader, type StreamReader, type StreamSource } from '../../src/paywall/runHandler.ts'

const bounds = { bytesMax: 1_000, timeMaxMs: 1_000, storedBytesMax: 500 }

interface Running {
  readonly reader: StreamReader
  readonly aborts: () => number
}

function run(chunks: AsyncIterable<Uint8Array>, clock: Clock = systemClock): Running {
  let aborts = 0
  const source: StreamSource = { chunks, abort: () => void aborts++ }
  return { reader: createStreamReader(clock, source, bounds), aborts: () => aborts }
}

async function* from(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield await Promise.resolve(chunk)
}

async function readAll(reader: StreamReader): Promise<Buffer> {
  const read: Uint8Array[] = []
  for (let chunk = await reader.next(); chunk !== undefined; chunk = await reader.next()) read.push(chunk)
  return Buffer.concat(read)
}

const chunks = fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 12 })

test('the digest, the length and the stored bytes do not depend on how an answer is cut into chunks', async () => {
  await fc.assert(
    fc.asyncProperty(chunks, async (cut) => {
      const whole = Buffer.concat(cut)
      const { reader } = run(from(cut))
      expect((await readAll(reader)).equals(whole)).toBe(true)
      expect(reader.bytes()).toBe(whole.length)
      expect(reader.digest()).toBe(sha256Hex(whole))
      expect(reader.stored()).toEqual(whole.length <= bounds.storedBytesMax ? whole : undefined)
    }),
  )
})

describe('a bound', () => {
  test.each([
    [bounds.bytesMax, 'is read'],
    [bounds.bytesMax + 1, 'breaks'],
  ])('of bytes: an answer of %i bytes %s', async (length, verdict) => {
    const { reader } = run(from([Buffer.alloc(length - 1), Buffer.alloc(1)]))
    const reading = readAll(reader)
    if (verdict === 'is read') expect((await reading).length).toBe(length)
    else await expect(reading).rejects.toThrow('longer than 1000 bytes')
    expect(reader.bytes()).toBe(verdict === 'is read' ? length : bounds.bytesMax)
  })

  test('of time counts what the provider takes, and not the time between two reads', async () => {
    const clock = steppingClock()
    async function* slow() {
      for (let chunk = 0; chunk < 3; chunk++) {
        clock.advance(400)
        yield await Promise.resolve(Buffer.alloc(1))
      }
    }
    const { reader } = run(slow(), clock)
    await reader.next()
    clock.advance(60_000)
    await reader.next()
    await reader.next()
    await expect(run(never(), clock).reader.next()).rejects.toThrow(Fault)
  })
})

test('a provider that takes most of its time for each piece is cut once all of it is used', async () => {
  let nowMs = 0
  const ended = new Promise<void>(() => undefined)
  // A sleep ends only if no time is left.
  const sleep = (ms: number) => (ms > 0 ? ended : Promise.resolve())
  const clock: Clock = { nowMs: () => nowMs, monotonicMs: () => nowMs, sleep }
  async function* slow() {
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve))
      nowMs += 0.9 * bounds.timeMaxMs
      yield Buffer.alloc(1)
    }
  }
  const { reader } = run(slow(), clock)
  await reader.next()
  await reader.next()
  await expect(reader.next()).rejects.toThrow('within 1000 ms')
  expect(reader.bytes()).toBe(2)
})

test('a stream that has ended or broken stays so, whatever its provider says afterwards', async () => {
  const ended = run(goingOnAfter(() => ({ done: true, value: undefined }))).reader
  expect([await ended.next(), await ended.next(), ended.bytes()]).toEqual([undefined, undefined, 0])
  const broken = run(
    goingOnAfter(() => {
      throw new Error('cut')
    }),
  ).reader
  await expect(broken.next()).rejects.toThrow('cut')
  await expect(broken.next()).rejects.toThrow('cut')
  expect(broken.bytes()).toBe(0)
})

/** A provider that sends more after this. */
function goingOnAfter(first: () => IteratorResult<Uint8Array>): AsyncIterable<Uint8Array> {
  const results = [first]
  const next = async () => results.shift()?.() ?? { value: Buffer.from('more') }
  return { [Symbol.asyncIterator]: () => ({ next }) }
}

test('stopping the reader stops the provider, without waiting for it', () => {
  const { reader, aborts } = run(never())
  reader.abort()
  expect(aborts()).toBe(1)
})

async function* never(): AsyncGenerator<Uint8Array> {
  await new Promise<never>(() => undefined)
  yield Buffer.alloc(0)
}

/** Time passes when a test says so; a sleep of more than is left ends at once. */
function steppingClock(): Clock & { advance(ms: number): void } {
  let nowMs = 0
  return {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    // A provider that answers does so before this, because its promise is already resolved.
    sleep: () => new Promise((resolve) => setImmediate(resolve)),
    advance: (ms) => void (nowMs += ms),
  }
}
