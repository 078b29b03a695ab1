import { writeFile } from 'node:fs/promises'
import { audit } from '@tollbook/audit/audit'
import type { AuditReport } from '@tollbook/audit/auditReport'
import { GrowingTree } from '@tollbook/audit/growingTree'
import { leafHashOf, leafRoom } from '@tollbook/audit/rawEvent'
import { canonicalText } from '@tollbook/core/canonicalJson'
import { isoTime, systemClock } from '@tollbook/core/clock'
import { defaultSplit } from '../../../src/pricing/splitSetting.ts'
import type { Settlement } from '../../../src/payment/settlement.ts'
import { makeTemporaryDirectory } from '../../support/temporaryDirectory.ts'
import type { ChainFixture } from '../chainFixture.ts'

/** The position of each payment's first event: one append is three events, and the price list is the first event of all. */
export function positionOf(index: number): number {
  return 2 + 3 * index
}

/** A setting with its number, and when it takes effect. */
export interface RecordedSetting {
  readonly name: string
  readonly number: number
  readonly validFromMs: number
  readonly value: unknown
}

export interface WrittenLedger {
  readonly settlements: readonly Settlement[]
  readonly settings?: readonly RecordedSetting[]
  /** The auditor's own; undefined where the ledger has its wallets on record. */
  readonly paymentWallet?: string | undefined
}

/** Audits an export of a ledger that has exactly these payments, against the chain that they landed on. */
export async function auditPayments(
  { chain, price }: ChainFixture,
  { settlements, settings = [], paymentWallet }: WrittenLedger,
): Promise<AuditReport> {
  const directory = await makeTemporaryDirectory()
  const path = `${directory.path}/ledger.jsonl`
  try {
    await writeFile(path, exportOf([listOf(price), ...settings.map(settingOf), ...settlements.flatMap(appendOf)]))
    return await audit({
      source: { kind: 'export', path },
      verifierKeys: [],
      ownCheckpoints: [],
      transactions: true,
      // The payments of other cases are not missing: their callers may still present them.
      chain: { rpcUrl: chain.rpcUrl, paymentWallet, recordedWithinMs: Infinity, fetch: globalThis.fetch },
      resumeFile: undefined,
      clock: { ...systemClock, sleep: () => Promise.resolve(chain.advanceSlots(40)) },
    })
  } finally {
    await directory.remove()
  }
}

interface Written {
  readonly kind: string
  readonly stream: string
  readonly version: number
  readonly effectiveAtMs: number
  readonly fields: Readonly<Record<string, unknown>>
}

function listOf(price: ChainFixture['price']): Written {
  const fields = { source: 'fixed', split: defaultSplit, prices: [price] }
  return { kind: 'PriceListPublished', stream: 'prices#1', version: 1, effectiveAtMs: systemClock.nowMs(), fields }
}

function settingOf({ name, number, validFromMs, value }: RecordedSetting): Written {
  const fields = { name, number, validFrom: isoTime(validFromMs), value }
  return { kind: 'SettingChanged', stream: `${name}#${number}`, version: 1, effectiveAtMs: validFromMs, fields }
}

function appendOf(settlement: Settlement): readonly Written[] {
  const { reference: stream, wallet, price, burnedBaseUnits, evidence } = settlement
  const { mint, endpoint, requiredBaseUnits: exposedBaseUnits } = price
  const event = (version: number, kind: string, fields: Written['fields']): Written => {
    return { kind, stream, version, effectiveAtMs: evidence.blockTimeMs, fields }
  }
  const attempt = { attempt: 1, attemptId: 'attempt_1', orderDigest: 'ab', leaseMs: 60_000 }
  return [
    event(1, 'PaymentVerified', { settlement }),
    event(2, 'TokensBurned', { mint, endpoint, burnedBaseUnits }),
    event(3, 'ProofClaimed', { ...attempt, wallet, mint, endpoint, exposedBaseUnits }),
  ]
}

function exportOf(written: readonly Written[]): string {
  const tree = new GrowingTree()
  const recordedAtMs = systemClock.nowMs()
  const lines = written.map(({ effectiveAtMs, fields, ...header }, index) => {
    const position = index + 1
    const body = canonicalText({ ...header, schemaVersion: 1, effectiveAt: isoTime(effectiveAtMs), ...fields })
    const bytes = Buffer.concat([Buffer.alloc(leafRoom), Buffer.from(body)])
    const raw = { position, recordedAtMs, bytes, bodyStart: leafRoom, bodyEnd: bytes.length }
    const leaf = leafHashOf({ ...raw, leafHash: '', columns: undefined })
    tree.add(leaf)
    return { position, recordedAtMs, leafHash: Buffer.from(leaf, 'latin1').toString('base64'), body }
  })
  const unsealed = { origin: null, mint: null, checkpoint: null, verifierKey: null }
  const size = { fromPosition: 1, treeSize: tree.size, root: tree.root().toString('base64') }
  const head = { format: 'tollbook-ledger', version: 1, ...unsealed, ...size }
  return [head, ...lines, { end: true, events: lines.length }].map((line) => `${JSON.stringify(line)}\n`).join('')
}
