import { getAssociatedTokenAddressSync, TOKEN_2022_PROGRAM_ID, TOKEN_PROGRAM_ID } from '@solana/spl-token'
import { PublicKey } from '@solana/web3.js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { classOf } from '@tollbook/audit/accountClass'
import { describeShares, UnreadableBody, utcTime } from '@tollbook/audit/body'
import { emptyTree, GrowingTree } from '@tollbook/audit/growingTree'
import { readEvent } from '@tollbook/audit/kinds'
import { leafHashOf, leafRoom } from '@tollbook/audit/rawEvent'
import { findShareProblem, findSplitProblem } from '@tollbook/audit/split'
import { associatedTokenAccount } from '@tollbook/audit/tokenAccountAddress'
import { assert } from '@tollbook/core/assert'
import { leafHash } from '@tollbook/core/leaf'
import { rootOfHashes } from '@tollbook/core/merkle'
import { ledgerCodec } from '../../src/payment/events.ts'
import { split } from '../../src/pricing/split.ts'
import { encodeBase58 } from '@tollbook/core/base58'
import { isoTime } from '@tollbook/core/clock'
import { anyAddress, anyEvent, anySplit } from '../store/arbitraryEvent.ts'

/* The auditor's own reading against the writer's: two programs that share nothing must agree on every true ledger. */

const anyMs = fc.integer({ min: 0, max: Date.parse('2099-12-31T23:59:59.999Z') })
const header = fc.record({
  stream: fc.constantFrom('prices#7', `solana:${encodeBase58(new Uint8Array(64).fill(7))}`),
  version: fc.integer({ min: 1, max: 1_000_000 }),
  effectiveAtMs: anyMs,
})

function readKnown(body: string) {
  const read = readEvent(Buffer.from(body))
  assert(read.kind !== undefined, 'the auditor knows every kind of event that the service writes')
  return read
}

test('the auditor reads the same facts as the codec in any event that the codec writes', () => {
  fc.assert(
    fc.property(anyEvent, header, (event, header) => {
      const body = ledgerCodec.encode(event, header)
      const written: object = ledgerCodec.decode(body).event
      const { event: read } = readKnown(body)
      const { stream, version, effectiveAt: effectiveAtMs, schemaVersion, ...facts } = read
      expect({ stream, version, effectiveAtMs, schemaVersion }).toEqual({ ...header, schemaVersion: 1 })
      expect(comparable(facts)).toEqual(comparable(written))
    }),
    { numRuns: 500 },
  )
})

/** A price is kept with what follows from it, a time as a number, and what is absent or unknown as nothing. */
function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(comparable)
  if (typeof value !== 'object' || value === null) return value ?? undefined
  const own = Object.entries(value).filter(
    ([name]) => !['sharesText', 'digest', 'problem'].includes(name) || !('sharesText' in value),
  )
  return Object.fromEntries(
    own.map(([name, member]) => [name, name === 'validFrom' ? new Date(member).getTime() : comparable(member)]),
  )
}

test('the auditor derives the postings that the service derives, and names their accounts alike', () => {
  fc.assert(
    fc.property(anyEvent, header, (event, header) => {
      const { mint, postings } = readKnown(ledgerCodec.encode(event, header))
      const derived = postings().map(([debit, credit, amountBaseUnits]) => ({ debit, credit, mint, amountBaseUnits }))
      expect(derived).toEqual(ledgerCodec.postingsOf(event))
      // No endpoint has an empty path.
      const names = derived.flatMap(({ debit, credit }) => [debit, credit]).filter((name) => !name.endsWith(':'))
      expect(names.filter((name) => classOf(name) === undefined)).toEqual([])
    }),
    { numRuns: 500 },
  )
})

test('the auditor divides any price by any split as the service does', () => {
  fc.assert(
    fc.property(anySplit, fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }), (policy, requiredBaseUnits) => {
      const divided = split(requiredBaseUnits, policy)
      const sharesText = describeShares(divided.shares)
      const price = { requiredBaseUnits, burnBaseUnits: divided.burnBaseUnits, sharesText }
      expect(findSplitProblem(policy)).toBeUndefined()
      expect(findShareProblem(price, policy)).toBeUndefined()
      expect(findShareProblem({ ...price, burnBaseUnits: divided.burnBaseUnits + 1n }, policy)).toMatch('burn')
    }),
  )
})

test('a body in any other spelling is unreadable, though JSON reads the same in it', () => {
  fc.assert(
    fc.property(anyEvent, header, fc.nat(), (event, header, at) => {
      const body = ledgerCodec.encode(event, header)
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
        expect(() => readEvent(Buffer.from(other)), other).toThrow(UnreadableBody)
      }
    }),
  )
})

test('any bytes at all are either an event or unreadable, and nothing else happens', () => {
  fc.assert(
    fc.property(anyEvent, header, fc.nat(), fc.string({ unit: 'binary', maxLength: 4 }), (event, header, at, noise) => {
      const body = ledgerCodec.encode(event, header)
      const place = at % body.length
      const spoiled = Buffer.from(body.slice(0, place) + noise + body.slice(place + 1))
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
      const state = emptyTree()
      let tree = new GrowingTree(state)
      for (const [index, leaf] of leaves.entries()) {
        if (index === pause % leaves.length) tree = new GrowingTree(structuredClone(state))
        tree.add(Buffer.from(leaf).toString('latin1'))
        expect(tree.root()).toEqual(Buffer.from(rootOfHashes(leaves.slice(0, index + 1))))
      }
    }),
    { numRuns: 30 },
  )
})

test('a time has one form: every true one is read, and nothing that a calendar has not', () => {
  fc.assert(fc.property(anyMs, (ms) => utcTime.parse(isoTime(ms)) === ms))
  for (const text of [
    '2026-02-30T00:00:00.000Z',
    '2026-13-01T00:00:00.000Z',
    '2026-11-21T24:00:00.000Z',
    '2026-11-21T10:60:00.000Z',
    '2026-11-21T10:00:00Z',
    '2026-11-21T10:00:00.000+01:00',
    ' 2026-11-21T10:00:00.000Z',
  ]) {
    expect(utcTime.safeParse(text).success, text).toBe(false)
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
