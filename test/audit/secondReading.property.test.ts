import { getAssociatedTokenAddressSync, TOKEN_2022_PROGRAM_ID, TOKEN_PROGRAM_ID } from '@solana/spl-token'
import { PublicKey } from '@solana/web3.js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readEvent } from '@tollbook/audit/auditedEvent'
import { base58Of } from '@tollbook/audit/base58Text'
import { UnreadableBody } from '@tollbook/audit/bodyReader'
import { GrowingTree } from '@tollbook/audit/growingTree'
import { leafHashOf, leafRoom } from '@tollbook/audit/rawEvent'
import { associatedTokenAccount } from '@tollbook/audit/tokenAccountAddress'
import { readUtcTime } from '@tollbook/audit/utcTime'
import { leafHash } from '@tollbook/core/leaf'
import { rootOfHashes } from '@tollbook/core/merkle'
import { decodeEvent, encodeEvent } from '../../src/payment/eventCodec.ts'
import { encodeBase58 } from '@tollbook/core/base58'
import { isoTime } from '@tollbook/core/clock'
import { anyAddress, anyEvent } from '../store/arbitraryEvent.ts'

/* The auditor's own reading against the writer's: two programs that share nothing must agree on every true book. */

const anyMs = fc.integer({ min: 0, max: Date.parse('2099-12-31T23:59:59.999Z') })
const header = fc.record({
  stream: fc.constantFrom(
    'prices',
    '5GXG9TrwCCXU3ceAEWnpbTfF22q4EmJMSEViPevE3AMMWcEuDGV2pFdGg8BFcESyaenFFqfPeUQodzSniZGL5EoG',
  ),
  version: fc.integer({ min: 1, max: 1_000_000 }),
  effectiveAtMs: anyMs,
})

function latin1(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1')
}

test('whatever event the codec writes, the auditor reads the same facts in it', () => {
  fc.assert(
    fc.property(anyEvent, header, (event, header) => {
      const body = encodeEvent(event, header)
      const [read, written] = [readEvent(latin1(body)), decodeEvent(body)]
      expect(read).toMatchObject({ ...header, kind: event.kind, schemaVersion: 1 })
      if (read.kind === 'PaymentVerified' && written.event.kind === 'PaymentVerified') {
        const { price, ...settlement } = written.event.settlement
        expect(read.settlement).toMatchObject(settlement)
        expect(read.settlement.price.requiredBaseUnits).toBe(price.requiredBaseUnits)
        expect(read.settlement.price.endpoint).toBe(price.endpoint)
      } else if (read.kind === 'PriceListPublished' && written.event.kind === 'PriceListPublished') {
        expect(read.prices.map(({ endpoint }) => endpoint)).toEqual(
          written.event.prices.map(({ endpoint }) => endpoint),
        )
      } else {
        // What moves no money, the auditor reads past.
        const { stream: _, version: __, effectiveAtMs: ___, schemaVersion: ____, ...facts } = read
        expect(written.event).toMatchObject(facts)
      }
    }),
    { numRuns: 300 },
  )
})

test('a body that is spelled in any other way is no body, though JSON reads the same in it', () => {
  fc.assert(
    fc.property(anyEvent, header, fc.nat(), (event, header, at) => {
      const body = encodeEvent(event, header)
      const colons = [...body.matchAll(/":/g)].map(({ index }) => index + 2)
      const place = colons[at % colons.length] ?? 0
      const spaced = `${body.slice(0, place)} ${body.slice(place)}`
      const reordered = JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(body)).toReversed()))
      for (const other of [
        spaced,
        reordered,
        `${body} `,
        body.slice(0, -1),
        body.replace('"kind":', '"kind":"x","kind":'),
      ]) {
        expect(() => readEvent(latin1(other)), other).toThrow(UnreadableBody)
      }
    }),
  )
})

test('any bytes at all are either an event or unreadable, and nothing else happens', () => {
  fc.assert(
    fc.property(anyEvent, header, fc.nat(), fc.string({ unit: 'binary', maxLength: 4 }), (event, header, at, noise) => {
      const body = encodeEvent(event, header)
      const place = at % body.length
      const spoiled = latin1(body.slice(0, place) + noise + body.slice(place + 1))
      try {
        readEvent(spoiled)
      } catch (error) {
        expect(error).toBeInstanceOf(UnreadableBody)
      }
    }),
    { numRuns: 500 },
  )
})

test('the leaf that the auditor builds around a body is the one of the ledger', () => {
  const position = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })
  fc.assert(
    fc.property(
      position,
      fc.integer({ min: -1e13, max: 1e14 }),
      fc.uint8Array({ maxLength: 300 }),
      (position, recordedAtMs, body) => {
        const bytes = Buffer.concat([Buffer.alloc(leafRoom), body])
        const raw = {
          position,
          recordedAtMs,
          bytes,
          bodyStart: leafRoom,
          bodyEnd: bytes.length,
          leafHash: '',
          columns: undefined,
        }
        expect(Buffer.from(leafHashOf(raw), 'latin1')).toEqual(Buffer.from(leafHash({ position, recordedAtMs, body })))
      },
    ),
  )
})

test('a tree that grows leaf by leaf has the root of RFC 6962 at every size, also when it is put down and taken up', () => {
  const leaves = fc.array(fc.uint8Array({ minLength: 32, maxLength: 32 }), { minLength: 1, maxLength: 70 })
  fc.assert(
    fc.property(leaves, fc.nat(), (leaves, pause) => {
      let tree = new GrowingTree()
      for (const [index, leaf] of leaves.entries()) {
        if (index === pause % leaves.length) tree = new GrowingTree(tree.state())
        tree.add(Buffer.from(leaf).toString('latin1'))
        expect(tree.root()).toEqual(Buffer.from(rootOfHashes(leaves.slice(0, index + 1))))
      }
    }),
    { numRuns: 30 },
  )
})

test('base58 of 32 and of 64 bytes is what the audited library says, leading zeros too', () => {
  const bytes = fc.constantFrom(32, 64).chain((length) => fc.uint8Array({ minLength: length, maxLength: length }))
  fc.assert(
    fc.property(bytes, fc.nat(70), (bytes, zeros) => {
      bytes.fill(0, 0, Math.min(zeros, bytes.length) % 9 === 0 ? zeros : 0)
      expect(base58Of(bytes)).toBe(encodeBase58(bytes))
    }),
    { numRuns: 500 },
  )
})

test('a time has one form: every true one is read, and nothing that a calendar has not', () => {
  fc.assert(fc.property(anyMs, (ms) => readUtcTime(isoTime(ms)) === ms))
  for (const text of [
    '2026-02-30T00:00:00.000Z',
    '2026-13-01T00:00:00.000Z',
    '2026-11-21T24:00:00.000Z',
    '2026-11-21T10:60:00.000Z',
    '2026-11-21T10:00:00Z',
    '2026-11-21T10:00:00.000+01:00',
    ' 2026-11-21T10:00:00.000Z',
  ]) {
    expect(readUtcTime(text), text).toBeUndefined()
  }
})

test('the token account of a wallet is the one that the library derives, whether the wallet is on the curve or not', () => {
  const program = fc.constantFrom(TOKEN_PROGRAM_ID, TOKEN_2022_PROGRAM_ID)
  fc.assert(
    fc.property(anyAddress, anyAddress, program, (wallet, mint, program) => {
      const expected = getAssociatedTokenAddressSync(new PublicKey(mint), new PublicKey(wallet), true, program)
      const tokenProgram = program.toBase58()
      expect(associatedTokenAccount({ wallet, tokenProgram, mint })).toBe(expected.toBase58())
    }),
    { numRuns: 40 },
  )
})
