import { describe, expect, test } from 'vitest'
import type { FindingCode } from '@tollbook/audit/findings'
import { leafHashOf, leafRoom } from '@tollbook/audit/rawEvent'
import { Replay } from '@tollbook/audit/replay'
import { canonicalJson, type Json } from '@tollbook/core/canonicalJson'
import { encodeBase58 } from '@tollbook/core/base58'
import { isoTime } from '@tollbook/core/clock'
import { sampleAddress, sampleMint } from '../store/samplePayment.ts'

/* What happens to a payment after its answer, as the auditor understands it: bodies by hand, no ledger behind them. */

const wallet = sampleAddress()
const blockTimeMs = Date.parse('2026-11-21T10:30:00.000Z')
const signature = signed(1)
const [required, burn, owed, over] = [10_000_000, 3_000_000, 7_000_000, 11]

type Fields = { readonly [key: string]: Json }

function signed(seed: number): string {
  return encodeBase58(Uint8Array.from({ length: 64 }, (_, index) => ((index * 7 + seed * 31) % 255) + 1))
}

class Book {
  readonly replay = new Replay()
  readonly #versions = new Map<string, number>()
  #position = 0

  add(kind: string, stream: string, fields: Fields, effectiveAtMs = blockTimeMs): this {
    const version = (this.#versions.get(stream) ?? 0) + 1
    this.#versions.set(stream, version)
    const header = { kind, schemaVersion: 1, stream, version, effectiveAt: isoTime(effectiveAtMs) }
    const body = Buffer.from(canonicalJson({ ...header, ...fields }))
    const bytes = Buffer.concat([Buffer.alloc(leafRoom), body])
    const bounds = { bytes, bodyStart: leafRoom, bodyEnd: bytes.length, leafHash: '', columns: undefined }
    const raw = { position: ++this.#position, recordedAtMs: blockTimeMs + this.#position * 1000, ...bounds }
    this.replay.apply({ ...raw, leafHash: leafHashOf(raw) })
    return this
  }

  /** Everything that is wrong, by code and position. */
  findings(): readonly (readonly [FindingCode, number | undefined])[] {
    this.replay.finish()
    return this.replay.findings.state().kept.map(({ code, position }) => [code, position])
  }

  balances(): Readonly<Record<string, number>> {
    const moved = [...this.replay.journal.accounts()].filter(({ balance }) => balance !== 0n)
    return Object.fromEntries(moved.map(({ account, balance }) => [account.replace(wallet, '…'), Number(balance)]))
  }

  burns(): readonly string[] {
    return [...this.replay.journal.burns().values()].map(({ burned, payments }) => `${burned} of ${payments}`)
  }
}

const price = {
  endpoint: '/api/data/weather',
  priceMicroUsd: '10000',
  tokenPriceAttoUsd: '1000000000000000',
  mint: sampleMint,
  decimals: 6,
  requiredBaseUnits: String(required),
  burnBaseUnits: String(burn),
  providerBaseUnits: '5000000',
  holdersBaseUnits: '1500000',
  treasuryBaseUnits: '500000',
}

const evidence = {
  agreedAtMs: 1,
  tokenPriceAttoUsd: price.tokenPriceAttoUsd,
  readings: [{ source: 'one', tokenPriceAttoUsd: '1', liquidityUsd: null }],
  silent: [{ source: 'other', why: 'timeout' }],
}

function paid(): Book {
  const settlement = {
    signature,
    wallet,
    price,
    quoteId: null,
    memo: null,
    burnedBaseUnits: String(burn),
    receivedBaseUnits: String(owed + over),
    slot: 100,
    blockTimeMs,
    transactionBase64: null,
  }
  const burned = { mint: sampleMint, endpoint: price.endpoint, burnedBaseUnits: String(burn) }
  return new Book()
    .add('PriceListPublished', 'prices', { source: 'market', prices: [price], evidence })
    .add('PaymentVerified', signature, { settlement })
    .add('TokensBurned', signature, burned)
}

const attempt = { attempt: 1, attemptId: 'attempt_1' }

function claimed(): Book {
  const claim = { ...attempt, wallet, endpoint: price.endpoint, orderDigest: 'ab', leaseMs: 60_000 }
  return paid().add('ProofClaimed', signature, claim)
}

function served(): Book {
  const { providerBaseUnits, holdersBaseUnits, treasuryBaseUnits } = price
  const shares = { mint: sampleMint, providerBaseUnits, holdersBaseUnits, treasuryBaseUnits }
  return claimed()
    .add('RequestFulfilled', signature, { ...attempt, orderDigest: 'ab', answerDigest: 'cd' })
    .add('DistributionAllocated', signature, shares)
}

function released(): Book {
  return claimed().add('RequestFailed', signature, { ...attempt, reason: 'no_data' })
}

function reversal(given: Fields = {}): Fields {
  const { endpoint, mint } = price
  const amounts = {
    unearnedBaseUnits: '0',
    lostBaseUnits: String(owed),
    overpaidBaseUnits: String(over),
    burnedBaseUnits: String(burn),
  }
  return { reason: 'absent', finalizedSlot: 500, wallet, mint, endpoint, ...amounts, ...given }
}

describe('finality', () => {
  test('comes once to a payment that is not being served', () => {
    expect(served().add('PaymentFinalized', signature, { slot: 100 }).findings()).toEqual([])
    const twice = served()
      .add('PaymentFinalized', signature, { slot: 100 })
      .add('PaymentFinalized', signature, { slot: 100 })
    expect(twice.findings()).toEqual([['life_impossible', 8]])
    expect(claimed().add('PaymentFinalized', signature, { slot: 100 }).findings()).toEqual([['life_impossible', 5]])
  })
})

describe('a reversal', () => {
  test('of a served payment is our loss, leaves the shares owed, and takes the burn out of the statistics', () => {
    const book = served().add('PaymentReversed', signature, reversal())
    expect(book.findings()).toEqual([])
    expect(book.balances()).toEqual({
      'Expenses:ReversedPayments': owed,
      'Liabilities:Provider': -5_000_000,
      'Liabilities:Holders': -1_500_000,
      'Liabilities:Treasury': -500_000,
    })
    expect(new Set(book.burns())).toEqual(new Set(['0 of 0']))
  })

  test('of a payment that nobody was served for leaves nothing', () => {
    const taken = reversal({ unearnedBaseUnits: String(owed), lostBaseUnits: '0' })
    const book = released().add('PaymentReversed', signature, taken)
    expect(book.findings()).toEqual([])
    expect(book.balances()).toEqual({})
  })

  test.each([
    ['another amount', { lostBaseUnits: '1' }, 'reversal_differs'],
    ['the loss and the debt confused', { lostBaseUnits: '0', unearnedBaseUnits: String(owed) }, 'reversal_differs'],
    ['another wallet', { wallet: sampleAddress() }, 'owner_differs'],
    ['another endpoint', { endpoint: '/api/other' }, 'owner_differs'],
  ] as const)('with %s is found', (_, given, code) => {
    const found = served().add('PaymentReversed', signature, reversal(given)).findings()
    expect(found).toContainEqual([code, 7])
  })

  test('of what is final, or is being served, cannot be', () => {
    const final = served()
      .add('PaymentFinalized', signature, { slot: 100 })
      .add('PaymentReversed', signature, reversal())
    expect(final.findings()).toEqual([['life_impossible', 8]])
    expect(claimed().add('PaymentReversed', signature, reversal()).findings()).toContainEqual(['life_impossible', 5])
  })

  test('may be followed by the arrival of the tokens after all, which are then owed to their sender', () => {
    const received = { wallet, mint: sampleMint, receivedBaseUnits: String(owed + over), slot: 700 }
    const book = served().add('PaymentReversed', signature, reversal()).add('TransferReceived', signature, received)
    expect(book.findings()).toEqual([])
    expect(book.balances()).toMatchObject({
      'Assets:PaymentWallet': owed + over,
      'Liabilities:Unmatched:…': -owed - over,
    })
  })
})

describe('a refund', () => {
  const due = { wallet, mint: sampleMint, refundBaseUnits: String(owed) }

  test('is of what was owed for the request, to who paid, once it is final', () => {
    const book = released().add('PaymentFinalized', signature, { slot: 100 }).add('RefundDue', signature, due)
    expect(book.findings()).toEqual([])
    expect(book.balances()).toMatchObject({ 'Liabilities:RefundsDue:…': -owed, 'Liabilities:Overpaid:…': -over })
  })

  test.each([
    ['before it is final', released(), due, 'life_impossible'],
    [
      'of more than was owed',
      released().add('PaymentFinalized', signature, { slot: 100 }),
      { ...due, refundBaseUnits: '7000001' },
      'refund_differs',
    ],
    [
      'to another wallet',
      released().add('PaymentFinalized', signature, { slot: 100 }),
      { ...due, wallet: sampleAddress() },
      'owner_differs',
    ],
    ['of a delivered request', served().add('PaymentFinalized', signature, { slot: 100 }), due, 'life_impossible'],
  ] as const)('%s is found', (_, book, fields, code) => {
    expect(
      book
        .add('RefundDue', signature, fields)
        .findings()
        .map(([found]) => found),
    ).toContain(code)
  })
})

describe('a payout', () => {
  const other = signed(2)
  const payout = (paidBaseUnits: string, account = 'Liabilities:Provider', wallet = sampleAddress()): Fields => {
    const payments = [{ account, wallet, paidBaseUnits }]
    return { signature: other, planId: 'payout_1', part: 1, mint: sampleMint, slot: 900, payments }
  }

  test('of all that is owed leaves nothing owed', () => {
    const book = served().add('DistributionPaid', `payout:${other}`, payout('5000000'))
    expect(book.findings()).toEqual([])
    expect(book.balances()['Liabilities:Provider']).toBeUndefined()
    expect(book.replay.payouts.has(other)).toBe(true)
    const back = payout('11', `Liabilities:Overpaid:${wallet}`, wallet)
    expect(served().add('DistributionPaid', `payout:${other}`, back).findings()).toEqual([])
  })

  test.each([
    ['of more than is owed', payout('5000001'), 'payout_exceeds'],
    ['of an account that owes nobody', payout('1', 'Liabilities:Unearned'), 'life_impossible'],
    ['of what is owed to one wallet to another', payout('1', `Liabilities:Overpaid:${wallet}`), 'owner_differs'],
    ['in another stream', { ...payout('1'), signature: signed(3) }, 'life_impossible'],
  ] as const)('%s is found', (_, fields, code) => {
    expect(served().add('DistributionPaid', `payout:${other}`, fields).findings()).toContainEqual([code, 7])
  })

  test('that is booked twice is found', () => {
    const twice = served()
      .add('DistributionPaid', `payout:${other}`, payout('1'))
      .add('DistributionPaid', `payout:${other}`, payout('1'))
    expect(twice.findings()).toContainEqual(['life_impossible', 8])
  })
})
