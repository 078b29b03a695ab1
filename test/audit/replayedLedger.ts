import type { ReadEvent } from '@tollbook/audit/kinds/auditedKind'
import type { FindingCode } from '../../packages/audit/src/findings.ts'
import { leafHashOf, leafRoom } from '../../packages/audit/src/rawEvent.ts'
import { Replay } from '../../packages/audit/src/replay.ts'
import { encodeBase58 } from '@tollbook/core/base58'
import { canonicalJson, type Json } from '@tollbook/core/canonicalJson'
import { isoTime } from '@tollbook/core/clock'
import { sampleAddress, sampleMint } from '../store/samplePayment.ts'

/* A ledger of bodies written by hand, without a database, as the auditor understands it. */

export type Fields = { readonly [key: string]: Json }

export const wallet = sampleAddress()
export const blockTimeMs = Date.parse('2026-11-21T10:30:00.000Z')
export const [required, burn, owed, over] = [10_000_000, 3_000_000, 7_000_000, 11]
export const reference = `solana:${signed(1)}`

export function signed(seed: number): string {
  return encodeBase58(Uint8Array.from({ length: 64 }, (_, index) => ((index * 7 + seed * 31) % 255) + 1))
}

export class ReplayedLedger {
  readonly replay = new Replay()
  /** As the auditor read them. */
  readonly events: ReadEvent[] = []
  /** The lines of an export, without the first and the last. */
  readonly lines: string[] = []
  readonly #versions = new Map<string, number>()
  #position = 0
  #recordedAtMs = blockTimeMs

  /** One append: its events are recorded at the same time. */
  append(
    stream: string,
    ...events: readonly (readonly [kind: string, fields: Fields, effectiveAtMs?: number])[]
  ): this {
    this.#recordedAtMs += 1_000
    for (const [kind, fields, effectiveAtMs = blockTimeMs] of events) this.#add(stream, kind, { effectiveAtMs, fields })
    return this
  }

  wait(ms: number): this {
    this.#recordedAtMs += ms
    return this
  }

  #add(stream: string, kind: string, { effectiveAtMs, fields }: { effectiveAtMs: number; fields: Fields }): void {
    const version = (this.#versions.get(stream) ?? 0) + 1
    this.#versions.set(stream, version)
    const header = { kind, schemaVersion: 1, stream, version, effectiveAt: isoTime(effectiveAtMs) }
    const body = Buffer.from(canonicalJson({ ...header, ...fields }))
    const bytes = Buffer.concat([Buffer.alloc(leafRoom), body])
    const bounds = { bytes, bodyStart: leafRoom, bodyEnd: bytes.length, leafHash: '', columns: undefined }
    const raw = { position: ++this.#position, recordedAtMs: this.#recordedAtMs, ...bounds }
    const leafHash = leafHashOf(raw)
    this.replay.apply({ ...raw, leafHash }, (event) => this.events.push(event))
    const { position, recordedAtMs } = raw
    const base64 = Buffer.from(leafHash, 'latin1').toString('base64')
    this.lines.push(JSON.stringify({ position, recordedAtMs, leafHash: base64, body: body.toString('utf8') }))
  }

  /** A file of `tollbook export jsonl`. */
  exportText(checkpoint: string | null = null): string {
    const { size: treeSize } = this.replay.tree
    const root = this.replay.tree.root().toString('base64')
    const facts = { origin: null, mint: null, checkpoint, verifierKey: null }
    const head = { format: 'tollbook-ledger', version: 1, fromPosition: 1, treeSize, root, ...facts }
    return [JSON.stringify(head), ...this.lines, JSON.stringify({ end: true, events: treeSize }), ''].join('\n')
  }

  /** Everything that is wrong, by code and position. */
  findings(): readonly (readonly [FindingCode, number | undefined])[] {
    this.replay.finish()
    return this.replay.findings.all().map(({ code, position }) => [code, position])
  }

  codes(): readonly FindingCode[] {
    return this.findings().map(([code]) => code)
  }

  balances(): Readonly<Record<string, number>> {
    const moved = [...this.replay.postings.accounts()].filter(({ balanceBaseUnits }) => balanceBaseUnits !== 0n)
    return Object.fromEntries(
      moved.map(({ account, balanceBaseUnits: balance }) => [account.replace(wallet, '…'), Number(balance)]),
    )
  }

  /** Amount and count of each hour. */
  hours(): readonly string[] {
    return Array.from(this.replay.postings.hours(), ({ amountBaseUnits: amount, entries }) => `${amount} of ${entries}`)
  }
}

const shares = [
  { account: 'provider', baseUnits: '5000000' },
  { account: 'holders', baseUnits: '1500000' },
  { account: 'treasury', baseUnits: '500000' },
]

export const price = {
  endpoint: '/api/data/weather',
  priceMicroUsd: '10000',
  tokenPriceAttoUsd: '1000000000000000',
  mint: sampleMint,
  decimals: 6,
  requiredBaseUnits: String(required),
  burnBaseUnits: String(burn),
  shares,
}

/** The same request in dollars: 0.01 USD, whose burn is owed in the token. */
export const dollarPrice = {
  ...price,
  tokenPriceAttoUsd: '1000000000000000000',
  mint: sampleAddress(),
  requiredBaseUnits: '10000',
  burnBaseUnits: '0',
  shares: [
    { account: 'provider', baseUnits: '5000' },
    { account: 'holders', baseUnits: '1500' },
    { account: 'treasury', baseUnits: '3500' },
  ],
  tokenBurn: { mint: sampleMint, baseUnits: String(burn) },
}

export const split = [
  { account: 'burn', perMille: 300 },
  { account: 'provider', perMille: 500 },
  { account: 'holders', perMille: 150 },
  { account: 'treasury', perMille: 50 },
]

const evidence = {
  agreedAtMs: 1,
  tokenPriceAttoUsd: price.tokenPriceAttoUsd,
  readings: [{ source: 'one', tokenPriceAttoUsd: '1', liquidityUsd: null }],
  silent: [{ source: 'other', why: 'timeout' }],
}

export function listed(list: Fields = {}): ReplayedLedger {
  const fields = { source: 'market', split, prices: [price, dollarPrice], evidence, ...list }
  return new ReplayedLedger().append('prices#1', ['PriceListPublished', fields])
}

export const attempt = { attempt: 1, attemptId: 'attempt_1' }
const { mint, endpoint } = price

export function settlement(given: Fields = {}): Fields {
  return {
    settlement: {
      reference,
      wallet,
      price,
      quoteId: null,
      memo: null,
      burnedBaseUnits: String(burn),
      receivedBaseUnits: String(owed + over),
      evidence: { kind: 'solana', slot: 100, blockTimeMs, transactionBase64: null },
      ...given,
    },
  }
}

export const tokensBurned: Fields = { mint, endpoint, burnedBaseUnits: String(burn) }
export const burnOwed: Fields = { mint, endpoint, owedBaseUnits: String(burn) }
export const exposed = { mint, exposedBaseUnits: String(required) }
export const notExposed = { mint, exposedBaseUnits: '0' }
export const claimed: Fields = { ...attempt, wallet, endpoint, orderDigest: 'ab', leaseMs: 60_000, ...exposed }
export const fulfilled: Fields = { ...attempt, orderDigest: 'ab', answerDigest: 'cd' }
export const allocated: Fields = { mint, parts: shares }
export const failed: Fields = { ...attempt, reason: 'no_data', ...exposed }

export function reversal(given: Fields = {}): Fields {
  const lost = { lostBaseUnits: String(owed), overpaidBaseUnits: String(over) }
  const amounts = { unearnedBaseUnits: '0', ...lost, burnOwedBaseUnits: '0' }
  return { reason: 'absent', finalizedSlot: 500, wallet, endpoint, ...exposed, ...amounts, ...given }
}

export function paid(): ReplayedLedger {
  return listed().append(
    reference,
    ['PaymentVerified', settlement()],
    ['TokensBurned', tokensBurned],
    ['ProofClaimed', claimed],
  )
}

export const wholePrice = settlement({ burnedBaseUnits: '0', receivedBaseUnits: String(required + over) })

/** The payer sent the whole price and burned nothing. */
export function paidWhole(): ReplayedLedger {
  return listed().append(reference, ['PaymentVerified', wholePrice], ['ProofClaimed', claimed])
}

/** The burn is owed from the delivery on. */
export function servedOwingBurn(ledger = paidWhole()): ReplayedLedger {
  const delivery = [
    ['RequestFulfilled', fulfilled],
    ['BurnOwed', burnOwed],
    ['DistributionAllocated', allocated],
  ] as const
  return ledger.append(reference, ...delivery)
}

export function served(ledger = paid()): ReplayedLedger {
  return ledger.append(reference, ['RequestFulfilled', fulfilled], ['DistributionAllocated', allocated])
}

export function released(ledger = paid()): ReplayedLedger {
  return ledger.append(reference, ['RequestFailed', failed])
}
