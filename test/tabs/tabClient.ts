import { createPrivateKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import type { Keypair } from '@solana/web3.js'
import { z } from 'zod'
import { type Address, readAddress } from '@tollbook/core/address'
import { assertPresent } from '@tollbook/core/assert'
import { encodeBase58 } from '@tollbook/core/base58'
import { sha256 } from '@tollbook/core/digest'
import { debitMessage, requestDigestOf, tabTermsHash, writeDebit } from '@tollbook/core/tab'
import { awaitThat } from '../support/awaitThat.ts'
import type { TestService } from '../support/testService.ts'
import { ask, askForQuote, type Counter, type Order, type Reply } from '../support/ask.ts'

export interface SessionKey {
  readonly address: Address
  readonly privateKey: KeyObject
}

export function newSessionKey(): SessionKey {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const { x = '' } = publicKey.export({ format: 'jwk' })
  const address = assertPresent(readAddress(encodeBase58(Buffer.from(x, 'base64url'))), 'a key is an address')
  return { address, privateKey }
}

const opened = z.object({
  data: z.object({
    tab: z.string(),
    deposit: z.string(),
    wallet: z.string(),
    mint: z.string().transform((text) => assertPresent(readAddress(text), 'a mint')),
    origin: z.string(),
    depositBaseUnits: z.string(),
    balanceBaseUnits: z.string(),
    bearerPrefix: z.string().nullable(),
  }),
})
export type OpenedTab = z.infer<typeof opened>['data'] & { readonly key: SessionKey }

/** Reads the answer to a deposit that opens a tab. */
export const readOpenedTab = (body: unknown) => opened.parse(body).data

/** Buys a tab on the native rail. */
export async function openTab(
  service: Counter,
  more: Readonly<Record<string, unknown>> = {},
  key = newSessionKey(),
): Promise<OpenedTab> {
  const body = { depositUsd: 1, sessionKey: key.address, ...more }
  const order = { path: '/api/tabs', body }
  const proof = await service.payer.pay(await askForQuote(service, order), 'boundSignature')
  return { ...readOpenedTab((await ask(service, { ...order, proof })).body), key }
}

/** Opens a tab whose deposit the chain can no longer drop, so that its rest is owed at once. */
export async function openFinalTab(service: Counter & Pick<TestService, 'chain'>): Promise<OpenedTab> {
  const tab = await openTab(service)
  service.chain.advanceSlots(40)
  const shown = z.object({ data: z.object({ isFinal: z.boolean() }) })
  await awaitThat('the deposit is final', async () => {
    const response = await fetch(`${service.baseUrl}/api/tabs/${tab.tab}`)
    return shown.parse(await response.json()).data.isFinal
  })
  return tab
}

export interface DebitOptions {
  readonly number: number | bigint
  readonly maxBaseUnits?: bigint
  readonly validUntilMs?: number
  /** Signed target, if not the one that is sent. */
  readonly signedTarget?: string
  readonly key?: SessionKey
  readonly origin?: string
}

/** The `x-payment-proof` of one signed debit. */
export function debitProof(tab: OpenedTab, { path, body }: Order, options: DebitOptions): string {
  const {
    maxBaseUnits = 100_000_000n,
    validUntilMs = Date.now() + 60_000,
    key = tab.key,
    origin = tab.origin,
  } = options
  const debit = { tab: tab.tab, number: BigInt(options.number), maxBaseUnits, validUntilMs }
  const bodyDigest = body === undefined ? undefined : sha256(JSON.stringify(body))
  const digest = requestDigestOf(body === undefined ? 'GET' : 'POST', options.signedTarget ?? path, bodyDigest)
  const message = debitMessage(debit, tabTermsHash({ origin, mint: tab.mint, sessionKey: key.address }), digest)
  const signature = sign(undefined, message, key.privateKey)
  return Buffer.from(writeDebit({ ...debit, signature })).toString('base64')
}

/** One request that the tab pays. */
export function askOnTab(service: Counter, tab: OpenedTab, order: Order, options: DebitOptions): Promise<Reply> {
  return ask(service, { ...order, proof: debitProof(tab, order, options) })
}

/** Signs a challenge as the `authorization` of its answer. `*` is the place of the challenge's expiry. */
export const signedBy = (address: string, key: KeyObject) => (challenge: string) =>
  `Wallet ${address}.*.${encodeBase58(sign(undefined, Buffer.from(challenge), key))}`

export function signedByWallet({ secretKey, publicKey }: Keypair): (challenge: string) => string {
  const [d, x] = [secretKey.slice(0, 32), secretKey.slice(32)].map((part) => Buffer.from(part).toString('base64url'))
  const key = createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', d: d ?? '', x: x ?? '' }, format: 'jwk' })
  return signedBy(publicKey.toBase58(), key)
}

const challenged = z.object({ challenge: z.string(), expiresAt: z.string() })

/** Closes a tab by a key: asks for the challenge, signs it, and sends it. */
export async function closeTab(baseUrl: string, { tab, key }: Pick<OpenedTab, 'tab' | 'key'>): Promise<Response> {
  const url = `${baseUrl}/api/tabs/${tab}`
  const { challenge, expiresAt } = challenged.parse(await (await fetch(url, { method: 'DELETE' })).json())
  const authorization = signedBy(key.address, key.privateKey)(challenge).replace('*', expiresAt)
  return await fetch(url, { method: 'DELETE', headers: { authorization } })
}
