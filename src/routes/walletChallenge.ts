import { readAddress } from '@tollbook/core/address'
import { decodeBase58 } from '@tollbook/core/base58'
import { isoTime } from '@tollbook/core/clock'
import { verifyEd25519 } from '@tollbook/core/ed25519'
import { type Answer, jsonAnswer } from '../paywall/answer.ts'

/*
 * Proves the ownership of a wallet without a transaction. The wallet signs a short text that contains the name of this
 * service, the purpose and an expiry. The signature is not valid for other purposes or at other services.
 */

export interface SignatureQuestion {
  readonly origin: string
  /** Purpose of the request, for example `show the payment 5x…`. */
  readonly purpose: string
  readonly authorization: string | undefined
  readonly nowMs: number
}

export interface ProvenWallet {
  readonly wallet: string
  /**
   * The wallet and the text that it signed. The signature is left out, because a wallet can sign one text in several
   * ways, and each would count as unused.
   */
  readonly proof: string
  readonly expiresAtMs: number
}

// Milliseconds for which a signature is valid. Five minutes are needed, because clocks of payers differ and a person
// signs by hand.
const validMs = 5 * 60 * 1000
const clockToleranceMs = 60_000

/**
 * Returns the wallet that signed the authorization. Undefined if the authorization is missing or not valid at present.
 * The caller must then sign a new text.
 */
export function readWallet({ origin, purpose, authorization, nowMs }: SignatureQuestion): ProvenWallet | undefined {
  const given = readAuthorization(authorization ?? '')
  if (given === undefined) return undefined
  const expiresAtMs = Date.parse(given.expiresAt)
  const isInTime = expiresAtMs > nowMs && expiresAtMs <= nowMs + validMs + clockToleranceMs
  const text = challengeOf({ origin, purpose, expiresAt: given.expiresAt })
  const message = new TextEncoder().encode(text)
  if (!isInTime || !verifyEd25519({ publicKey: given.publicKey, message, signature: given.signature })) return undefined
  return { wallet: given.wallet, proof: `${given.wallet} ${text}`, expiresAtMs }
}

/** Creates the 401 that contains the text to sign. `whose` describes the wallet, such as `the wallet that paid`. */
export function askForSignature(
  { origin, purpose, nowMs }: Omit<SignatureQuestion, 'authorization'>,
  whose: string,
): Answer {
  const expiresAt = isoTime(nowMs + validMs)
  const challenge = challengeOf({ origin, purpose, expiresAt })
  const error = `sign the challenge with ${whose}, and repeat the request with \`authorization: Wallet <wallet>.<expiresAt>.<signature>\`; the signature is base58`
  const body = JSON.stringify({ error, code: 'UNAUTHORIZED', challenge, expiresAt })
  return jsonAnswer(401, body, { 'www-authenticate': 'Wallet', 'cache-control': 'no-store' })
}

interface Challenge {
  readonly origin: string
  readonly purpose: string
  readonly expiresAt: string
}

function challengeOf({ origin, purpose, expiresAt }: Challenge): string {
  return `${origin} asks: ${purpose} until ${expiresAt}`
}

const signatureBytes = 64
const authorizationForm =
  /^Wallet ([1-9A-HJ-NP-Za-km-z]{32,44})\.(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)\.([1-9A-HJ-NP-Za-km-z]{64,88})$/

function readAuthorization(text: string) {
  const [, walletText = '', expiresAt = '', signatureText = ''] = authorizationForm.exec(text) ?? []
  const wallet = readAddress(walletText)
  const publicKey = wallet === undefined ? undefined : decodeBase58(wallet, 32)
  const signature = decodeBase58(signatureText, signatureBytes)
  if (wallet === undefined || publicKey === undefined || signature === undefined) return undefined
  return { wallet, publicKey, expiresAt, signature }
}
