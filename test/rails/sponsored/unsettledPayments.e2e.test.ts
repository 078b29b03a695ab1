import {
  createAssociatedTokenAccountIdempotentInstruction,
  createTransferCheckedInstruction,
  getAssociatedTokenAddressSync,
} from '@solana/spl-token'
import { Connection, Keypair, PublicKey, sendAndConfirmTransaction, Transaction } from '@solana/web3.js'
import { x402HTTPClient } from '@x402/fetch'
import { beforeAll, expect, test } from 'vitest'
import { assertPresent } from '@tollbook/core/assert'
import { openSigner } from '../../../src/signer/openSigner.ts'
import { afterFile } from '../../support/afterFile.ts'
import { qrOrder } from '../../support/ask.ts'
import { issueCertificate, writeTlsFiles } from '../../support/certificates.ts'
import { makeScratchDirectory } from '../../support/scratchDirectory.ts'
import { openTestSignatures } from '../../support/signatureStore.ts'
import { openTestService, type TestService } from '../../support/testService.ts'
import { openX402Service, stockClient, type X402Service } from '../../support/x402Service.ts'

/*
 * Payments of one wallet at the same moment. Each alone would succeed; whether all of them can is decided by the signer
 * and its journal in the database, so the requests are spread over two instances, each with its own signer.
 */

let x402: X402Service
let instances: readonly TestService[]

beforeAll(async () => {
  x402 = await openX402Service()
  const other = await openTestService({ besides: x402.service, env: await openSecondSigner() })
  instances = [x402.service, other]
})

/** A signer of another machine with the same key, reached over mutual TLS. Returns the environment of its instance. */
async function openSecondSigner(): Promise<Readonly<Record<string, string>>> {
  const name = 'signer authority'
  const issued = issueCertificate({ name })
  const by = { name, issued }
  const folder = await makeScratchDirectory()
  const authority = issued.certificate
  const own = issueCertificate({ name: 'signer', by, hosts: ['127.0.0.1'] })
  const tls = await writeTlsFiles(folder, 'signer', { own, authority })
  const journal = await openTestSignatures(x402.service.database)
  const address = { host: '127.0.0.1', port: 0, tls }
  const signer = await openSigner({ ...x402.signerOptions, journal, address })
  afterFile(() => signer.close())
  const files = await writeTlsFiles(folder, 'api', { own: issueCertificate({ name: 'api', by }), authority })
  const { SIGNER_SOCKET: _other, ...env } = x402.env
  return { ...env, ...files, SIGNER_ADDRESS: `127.0.0.1:${signer.port}` }
}

const json = { 'content-type': 'application/json' }
const qr = { method: 'POST', headers: json, body: JSON.stringify(qrOrder.body) }
const decimals = 6

async function buildPayments(wallet: Keypair, count: number): Promise<readonly string[]> {
  const client = await stockClient(wallet, x402.service.chain.rpcUrl, x402.tokenMint)
  const http = new x402HTTPClient(client)
  const build = async () => {
    const response = await fetch(`${x402.service.baseUrl}/x402${qrOrder.path}`, qr)
    const required = http.getPaymentRequiredResponse((name) => response.headers.get(name), await response.json())
    const payload = await client.createPaymentPayload(required)
    return assertPresent(http.encodePaymentSignatureHeader(payload)['PAYMENT-SIGNATURE'], 'a payment is signed')
  }
  return Promise.all(Array.from({ length: count }, build))
}

async function presentAtOnce(headers: readonly string[]): Promise<readonly Response[]> {
  return Promise.all(
    headers.map((header, index) => {
      const { baseUrl } = assertPresent(instances[index % instances.length], 'there are two instances')
      // Another order each: a second payment for one order would be answered by the first.
      const body = JSON.stringify({ ...qrOrder.body, data: `order ${index}` })
      return fetch(`${baseUrl}/x402${qrOrder.path}`, {
        method: 'POST',
        headers: { ...json, 'payment-signature': header },
        body,
      })
    }),
  )
}

async function walletWith(baseUnits: bigint): Promise<Keypair> {
  const { service, tokenMint } = x402
  const { demoWallet: from, chain } = service
  const mint = new PublicKey(tokenMint)
  const accountOf = (owner: PublicKey) => getAssociatedTokenAddressSync(mint, owner)
  const wallet = Keypair.generate()
  const to = accountOf(wallet.publicKey)
  const funding = new Transaction().add(
    createAssociatedTokenAccountIdempotentInstruction(from.publicKey, to, wallet.publicKey, mint),
    createTransferCheckedInstruction(accountOf(from.publicKey), mint, to, from.publicKey, baseUnits, decimals),
  )
  await sendAndConfirmTransaction(new Connection(chain.rpcUrl, 'confirmed'), funding, [from])
  return wallet
}

async function priceBaseUnits(): Promise<bigint> {
  const response = await fetch(`${x402.service.baseUrl}/x402${qrOrder.path}`, qr)
  const header = assertPresent(response.headers.get('payment-required'), `a price is offered: ${await response.text()}`)
  return BigInt(JSON.parse(Buffer.from(header, 'base64').toString()).accepts[0].amount)
}

/** Outcomes of all transactions for which the fee payer has paid. */
async function landed() {
  const connection = new Connection(x402.service.chain.rpcUrl, 'confirmed')
  const found = await connection.getSignaturesForAddress(x402.feePayer.publicKey)
  return found.filter(({ memo }) => memo !== null)
}

const countOf = (responses: readonly Response[], status: number) =>
  responses.filter((response) => response.status === status).length

test('of 40 payments at once by a wallet with tokens for one, one is signed and none fails on chain', async () => {
  const wallet = await walletWith(await priceBaseUnits())
  const payments = await buildPayments(wallet, 40)
  const before = await landed()

  const responses = await presentAtOnce(payments)

  expect(countOf(responses, 200)).toBe(1)
  const after = await landed()
  expect(after.filter(({ err }) => err !== null)).toEqual([])
  expect(after.length - before.length).toBe(1)
})

test('a wallet that has paid before and holds enough is served in parallel', async () => {
  const wallet = await walletWith(20n * (await priceBaseUnits()))
  const [first = '', ...others] = await buildPayments(wallet, 9)
  expect(countOf(await presentAtOnce([first]), 200)).toBe(1)

  expect(countOf(await presentAtOnce(others), 200)).toBe(8)
})

test('a wallet that has paid before is signed for only as far as its tokens go', async () => {
  const wallet = await walletWith(4n * (await priceBaseUnits()))
  const [first = '', ...others] = await buildPayments(wallet, 13)
  expect(countOf(await presentAtOnce([first]), 200)).toBe(1)

  const responses = await presentAtOnce(others)

  expect(countOf(responses, 200)).toBeLessThanOrEqual(3)
  expect((await landed()).filter(({ err }) => err !== null)).toEqual([])
})
