import { getAssociatedTokenAddressSync, TOKEN_2022_PROGRAM_ID, TOKEN_PROGRAM_ID } from '@solana/spl-token'
import { PublicKey } from '@solana/web3.js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { classOf } from '@tollbook/audit/accountClass'
import { readEvent } from '@tollbook/audit/auditedEvent'
import { findShareProblem, findSplitProblem } from '@tollbook/audit/auditedSplit'
import { base58Of } from '@tollbook/audit/base58Text'
import { UnreadableBody } from '@tollbook/audit/bodyReader'
import { GrowingTree } from '@tollbook/audit/growingTree'
import { mintOf, postingsOf } from '@tollbook/audit/postings'
import { describeShares } from '@tollbook/audit/priceReader'
import { leafHashOf, leafRoom } from '@tollbook/audit/rawEvent'
import { associatedTokenAccount } from '@tollbook/audit/tokenAccountAddress'
import { readUtcTime } from '@tollbook/audit/utcTime'
import { leafHash } from '@tollbook/core/leaf'
import { rootOfHashes } from '@tollbook/core/merkle'
import { ledgerCodec } from '../../src/payment/events.ts'
import { split } from '../../src/pricing/split.ts'
import { encodeBase58 } from '@tollbook/core/base58'
import { canonicalJson } from '@tollbook/core/canonicalJson'
import { isoTime } from '@tollbook/core/clock'
import type { Price } from '@tollbook/core/quote'
import { anyAddress, anyEvent, anySplit } from '../store/arbitraryEvent.ts'

/* The auditor's own reading against the writer's: two programs that share nothing must agree on every true ledger. */

const anyMs = fc.integer({ min: 0, max: Date.parse('2099-12-31T23:59:59.999Z') })
const header = fc.record({
  stream: fc.constantFrom('prices#7', `solana:${encodeBase58(new Uint8Array(64).fill(7))}`),
  version: fc.integer({ min: 1, max: 1_000_000 }),
  effectiveAtMs: anyMs,
})

function latin1(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1')
}

test('the auditor reads the same facts as the codec in any event that the codec writes', () => {
  fc.assert(
    fc.property(anyEvent, header, (event, header) => {
      const body = ledgerCodec.encode(event, header)
      const [read, written] = [readEvent(latin1(body)), ledgerCodec.decode(body)]
      expect(read).toMatchObject({ ...header, kind: event.kind, schemaVersion: 1 })
      if (read.kind === 'PaymentVerified' && written.event.kind === 'PaymentVerified') {
        const { price, evidence, ...settlement } = written.event.settlement
        const { kind: _, ...found } = evidence
        expect(read.settlement).toMatchObject(settlement)
        expect(read.settlement.evidence).toEqual(found)
        expect(read.settlement.price).toMatchObject(factsOf(price))
      } else if (read.kind === 'PriceListPublished' && written.event.kind === 'PriceListPublished') {
        expect(read.split).toEqual(written.event.split)
        expect(read.prices).toMatchObject(written.event.prices.map(factsOf))
      } else if (read.kind === 'SettingChanged' && written.event.kind === 'SettingChanged') {
        const { name, number, validFrom, value } = written.event
        expect(read).toMatchObject({ name, number, validFromMs: Date.parse(validFrom) })
        expect(read.value).toBe(latin1(canonicalJson(value)))
      } else {
        // Fields that move no money are read and dropped.
        const { stream: _, version: __, effectiveAtMs: ___, schemaVersion: ____, ...facts } = read
        expect(written.event).toMatchObject(facts)
      }
    }),
    { numRuns: 500 },
  )
})

function factsOf({ endpoint, mint, decimals, requiredBaseUnits, burnBaseUnits, shares }: Price) {
  return { endpoint, mint, decimals, requiredBaseUnits, burnBaseUnits, shares }
}

test('the auditor derives the postings that the service derives, and names their accounts alike', () => {
  fc.assert(
    fc.property(anyEvent, header, (event, header) => {
      const read = readEvent(latin1(ledgerCodec.encode(event, header)))
      const derived = postingsOf(read).map(([debit, credit, amountBaseUnits]) => {
        return { debit, credit, mint: mintOf(read), amountBaseUnits }
      })
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
        expect(() => readEvent(latin1(other)), other).toThrow(UnreadableBody)
      }
    }),
  )
})

test('any bytes at all are either an event or unreadable, and nothing else happens', () => {
  fc.assert(
    fc.property(anyEvent, header, fc.nat(), fc.string({ unit: 'binary', maxLength: 4 }), (event, header, at, noise) => {
      const body = ledgerCodec.encode(event, header)
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
