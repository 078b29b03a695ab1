import { hash, verify } from 'node:crypto'
import { base58 } from '@scure/base'
import { z } from 'zod'
import { type AuditState, StateDocument } from '../auditState.ts'
import { ed25519Key } from '../checkpointNote.ts'
import { isSolanaStream, signatureOf } from '../streamName.ts'
import { isAddress } from '../tokenAccountAddress.ts'

/* State of each tab after the events so far (keys, limits, end), and the check of a debit's signature. */

export interface AuditedTab {
  readonly wallet: string
  readonly mint: string
  readonly deposit: string
  readonly maxPerRequestBaseUnits: bigint
  readonly maxPerDayBaseUnits: bigint | null
  readonly endsAtMs: number
  readonly slot: number
  readonly blockTimeMs: number
  sessionKey: string | null
  bearerHash: string | null
  /** Number of lifecycle events so far. A debit must state the same number. */
  lifecycle: number
  isClosed: boolean
  /** Spent amount of deposits that the chain dropped, in base units, less the losses that the tab has covered. */
  lostBaseUnits: bigint
  /** Charges by the UTC day of their debit. Empty for a tab without a limit per day. */
  readonly chargedByDay: Map<number, bigint>
  /**
   * Holds that were returned on a later UTC day than that of their debit, in base units. The service subtracts them
   * from the charges of the later day.
   */
  returnedLaterBaseUnits: bigint
}

/** Schema of a tab's id: 16 bytes in base58. */
export const tabId = z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{1,22}$/)

const tabs = new StateDocument('tabs', () => new Map<string, AuditedTab>())

export function tabsOf(state: AuditState): Map<string, AuditedTab> {
  return tabs.of(state)
}

const dayMs = 24 * 60 * 60 * 1000
const dayOf = (atMs: number): number => Math.floor(atMs / dayMs)

export interface EndedDebit {
  readonly debitedAtMs: number
  readonly endedAtMs: number
  readonly chargedBaseUnits: bigint
  readonly returnedBaseUnits: bigint
}

/** Counts a debit that has ended. Returns how much more than the tab permits was charged on its day, or 0. */
export function countDebit(tab: AuditedTab, debit: EndedDebit): bigint {
  const { maxPerDayBaseUnits, chargedByDay } = tab
  if (maxPerDayBaseUnits === null) return 0n
  const day = dayOf(debit.debitedAtMs)
  if (day < dayOf(debit.endedAtMs)) tab.returnedLaterBaseUnits += debit.returnedBaseUnits
  const chargedBaseUnits = (chargedByDay.get(day) ?? 0n) + debit.chargedBaseUnits
  chargedByDay.set(day, chargedBaseUnits)
  const beyondBaseUnits = chargedBaseUnits - maxPerDayBaseUnits - tab.returnedLaterBaseUnits
  return beyondBaseUnits > 0n ? beyondBaseUnits : 0n
}

const idBytes = 16

/** Row of `ledger.keys` that links a deposit to its tab. `key` is a Latin-1 string with one character per byte. */
interface DepositKey {
  readonly tab: string
  readonly key: string
  readonly position: number
}

const deposits = new StateDocument('deposits', () => new Map<string, DepositKey>())

/** Returns the deposits by the stream of their payment. */
export function depositsOf(state: AuditState): ReadonlyMap<string, DepositKey> {
  return deposits.of(state)
}

/** Stores the row that `ledger.keys` must have for this deposit, for `matchKeys`. */
export function noteDeposit(state: AuditState, stream: string, { tab, position }: Omit<DepositKey, 'key'>): void {
  const key = Buffer.concat([base58.decode(tab), idBytesOf(stream)]).toString('latin1')
  deposits.of(state).set(stream, { tab, key, position })
}

export function tabIdOfDeposit(stream: string): string {
  return base58.encode(idBytesOf(stream))
}

/**
 * Returns the first 16 bytes of a deposit's signature. For the opening deposit they are the id of the tab. Returns no
 * bytes if the stream is not named by a signature.
 */
function idBytesOf(stream: string): Uint8Array {
  return isSolanaStream(stream) ? base58.decode(signatureOf(stream)).subarray(0, idBytes) : new Uint8Array(0)
}

export interface AuditedDebit {
  readonly tab: string
  readonly number: bigint
  readonly origin: string
  readonly mint: string
  readonly signed: {
    readonly sessionKey: string
    readonly maxBaseUnits: bigint
    readonly validUntilMs: number
    readonly requestDigest: string
    readonly signature: string
  }
}

/** Verifies the signature of a debit over the bytes that docs/tabs.md specifies. */
export function isSignedDebit({ tab, number, origin, mint, signed }: AuditedDebit): boolean {
  const { sessionKey } = signed
  if (!isAddress(sessionKey)) return false
  const terms = hash(
    'sha256',
    `{"mint":${JSON.stringify(mint)},"origin":${JSON.stringify(origin)},"sessionKey":"${sessionKey}"}`,
    'buffer',
  )
  const numbers = Buffer.alloc(24)
  numbers.writeBigUInt64BE(number, 0)
  numbers.writeBigUInt64BE(signed.maxBaseUnits, 8)
  numbers.writeBigInt64BE(BigInt(signed.validUntilMs), 16)
  const request = Buffer.from(signed.requestDigest, 'hex')
  const place = Buffer.from(base58.decode(tab)).subarray(0, 8)
  const message = Buffer.concat([Buffer.from('tollbook.tab.debit.1'), terms, numbers, request, place])
  return verify(undefined, message, ed25519Key(base58.decode(sessionKey)), Buffer.from(signed.signature, 'base64url'))
}
