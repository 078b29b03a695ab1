import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto'
import type { ReceiptSigningKey } from '../../config.ts'
import { createReceiptSigner, type SignerDeps } from '../../paywall/sendReceipt.ts'
import { verifierKeyText } from '@tollbook/core/checkpoint'
import type { Json } from '@tollbook/core/canonicalJson'
import type { UnsignedClosing } from '../../reports/closing/readClosing.ts'
import { signClosing } from '../../reports/closing/signClosing.ts'
import type { TreeHead } from '@tollbook/core/merkle'
import { jwsSigner } from '@tollbook/core/compactJws'
import { ed25519Signer } from '@tollbook/core/ed25519'
import { signCheckpoint } from '@tollbook/core/checkpoint'
import { Fault } from '@tollbook/core/fault'
import {
  didDocumentOf,
  didOf,
  jwkSetOf,
  receiptKeyBytes,
  receiptKeyId,
  receiptKeysOf,
} from '../../settings/receiptKeys.ts'
import { isSameValue, isWithin } from '../../settings/settingPeriods.ts'
import type { LedgerSettingsPart } from './openSettings.ts'
import type { PartDeps } from '../partDeps.ts'

export type ReceiptKeys = ReturnType<typeof openReceiptKeys>

export interface ReceiptKeyDeps extends Pick<PartDeps, 'clock'> {
  readonly settings: Pick<LedgerSettingsPart, 'origin' | 'periods'>
  readonly priceLists: { listNumber: SignerDeps['splitsOf'] }
}

// Milliseconds before the end of its period at which the key stops signing checkpoints. Events use the clock of the
// database, which differs from the clock of the service.
const checkpointMarginMs = 60_000

export function openReceiptKeys(key: ReceiptSigningKey, deps: ReceiptKeyDeps) {
  const { clock, settings, priceLists } = deps
  const { origin } = settings
  const signer = ed25519Signer(key)
  const kid = receiptKeyId(key)
  const signJws = jwsSigner(signer, kid)
  const { kty, crv, x } = key
  // Derive a separate key, so that a code reveals nothing about the receipt key. Create the key object once: with it, a
  // code takes 3 µs, and with the key's bytes 17 µs.
  const codeKey = createSecretKey(
    createHmac('sha256', Buffer.from(key.d, 'base64url')).update('tollbook challenge').digest(),
  )
  const authenticate = (text: string) => createHmac('sha256', codeKey).update(text).digest('base64url')
  const recorded = () => settings.periods('receipt-key')
  const isAccepted = (atMs: number, marginMs = 0) =>
    // A new ledger is sealed before its settings are recorded, so it has no period of a key yet.
    recorded().length === 0 ||
    recorded().some(({ name, value, fromMs, untilMs }) => {
      return isSameValue(name, value, { kty, crv, x }) && isWithin({ fromMs, untilMs: untilMs - marginMs }, atMs)
    })
  return {
    /** Throws while the ledger does not accept the key. */
    signCheckpoint(tree: TreeHead) {
      if (!isAccepted(clock.nowMs(), checkpointMarginMs))
        throw new Fault('RECEIPT_SIGNING_KEY is not accepted now, so it signs no checkpoint', { retryable: true })
      return signCheckpoint({ origin, ...tree }, signer)
    },
    signReceipt: createReceiptSigner(signJws, {
      isAccepted,
      nowMs: () => clock.nowMs(),
      splitsOf: (priceList) => priceLists.listNumber(priceList),
    }),
    /** Signs a statement. Verifiers find the key of the JWS by the DID of the service at `serviceUrl`. */
    signStatement(serviceUrl: string, statement: Json) {
      return signJws(statement, { kid: `${didOf(serviceUrl)}#${kid}` })
    },
    /** Throws while the ledger does not accept the key. */
    signClosing(closing: UnsignedClosing) {
      if (!isAccepted(clock.nowMs()))
        throw new Fault('RECEIPT_SIGNING_KEY is not accepted now, so it signs no statement', { retryable: true })
      return signClosing(signJws, closing)
    },
    didDocument: (serviceUrl: string) => didDocumentOf(serviceUrl, recorded()),
    /** Returns an authentication code for a text that clients send back. All instances return the same code. */
    authenticate,
    /** Compares in constant time, so that response times do not reveal a valid code. */
    isAuthentic(text: string, code: string) {
      const [given, own] = [Buffer.from(code), Buffer.from(authenticate(text))]
      // Compare the lengths first, because `timingSafeEqual` throws if they differ.
      return given.length === own.length && timingSafeEqual(given, own)
    },
    /** Returns the public keys of all periods, as a JWK set. */
    published: () => jwkSetOf(recorded()),
    /** Returns the keys for verifiers of checkpoints, newest first. Each key is in the C2SP verifier format. */
    verifierKeys: () =>
      receiptKeysOf(recorded()).map((each) => verifierKeyText({ name: origin, publicKey: receiptKeyBytes(each) })),
  }
}
