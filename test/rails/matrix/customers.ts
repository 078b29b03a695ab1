import { join } from 'node:path'
import { wrapFetchWithPayment } from '@x402/fetch'
import type { Keypair } from '@solana/web3.js'
import { openPaymentFolder } from '@tollbook/client/node'
import { PaymentError, PaymentRefused } from '@tollbook/client/paymentError'
import { keypairWallet } from '@tollbook/client/payerWallet'
import { createPayingFetch, type PayingFetch } from '@tollbook/client/payingFetch'
import type { ProofForm } from '@tollbook/client/encodeProof'
import { mppFetch } from '../../support/mppClient.ts'
import { devnet, stockClient } from '../../support/x402Service.ts'
import type { Cell, Kind } from './cells.ts'

/** A wallet with one client, which calls the service under one address, whichever instance answers there. */
export interface Customer {
  /**
   * Calls for an answer and pays; the status of the answer. A call of a later process goes on with an open payment, if
   * the client can.
   */
  call(): Promise<number>
  /** Shows the first payment again, byte for byte. */
  repeat(): Promise<Response>
  /** Header of the first payment. */
  paid(name: string): string | undefined
}

export interface CustomerOptions {
  readonly wallet: Keypair
  readonly rpcUrl: string
  readonly tokenMint: string
  readonly folder: string
  readonly baseUrl: () => string
}

const street = 'http://localhost:9'
const path = '/api/data/crypto?symbol=BTC'
const proofHeaders = ['payment-signature', 'authorization', 'x-payment-proof']

const forms: Readonly<Record<Kind, ProofForm | undefined>> = {
  signature: 'signature',
  transaction: 'transaction',
  bound: 'bound',
  x402: undefined,
  mpp: undefined,
}

export async function openCustomer(
  { kind, client }: Pick<Cell, 'kind' | 'client'>,
  options: CustomerOptions,
): Promise<Customer> {
  let paid: Request | undefined
  const inner: typeof fetch = async (input, init) => {
    const request = new Request(input, init)
    const moved = request.url.startsWith(street)
      ? new Request(request.url.replace(street, options.baseUrl()), request)
      : request
    if (proofHeaders.some((name) => moved.headers.has(name))) paid ??= moved.clone()
    const response = await fetch(moved)
    if (client !== 'ours' || forms[kind] !== undefined || response.status !== 402) return response
    // Our client pays this service natively. Without the body of the offer it pays as it pays any other service.
    return new Response('{}', { status: response.status, headers: response.headers })
  }
  const call = client === 'ours' ? ours(kind, { ...options, inner }) : await stock(kind, { ...options, inner })
  return {
    call,
    paid: (name) => paid?.headers.get(name) ?? undefined,
    repeat: () => {
      if (paid === undefined) throw new Error('nothing was paid yet')
      return fetch(new Request(paid.url.replace(/^http:\/\/[^/]+/, options.baseUrl()), { headers: paid.headers }))
    },
  }
}

interface Means extends CustomerOptions {
  readonly inner: typeof fetch
}

async function stock(kind: Kind, { wallet, rpcUrl, tokenMint, inner, baseUrl }: Means): Promise<() => Promise<number>> {
  const paying =
    kind === 'x402'
      ? wrapFetchWithPayment(inner, await stockClient(wallet, rpcUrl, tokenMint))
      : await mppFetch(wallet, { rpcUrl, inner })
  return async () => {
    // The client of MPP follows no answer from another origin than it asked.
    const response = await paying(`${baseUrl()}${kind === 'x402' ? '/x402' : ''}${path}`)
    await response.text()
    return response.status
  }
}

function ours(kind: Kind, { wallet, rpcUrl, tokenMint, folder, inner }: Means): () => Promise<number> {
  const form = forms[kind]
  const start = (): PayingFetch =>
    createPayingFetch({
      wallet: keypairWallet(wallet),
      rpcUrl,
      expectedMint: tokenMint,
      spendingLimit: { perRequest: { usd: '1', baseUnits: 1_000_000_000n } },
      store: openPaymentFolder(join(folder, wallet.publicKey.toBase58())),
      retry: { attemptsMax: 1 },
      fetch: inner,
      ...(form === undefined ? { protocols: [kind === 'x402' ? 'x402' : 'mpp'], expectedNetwork: devnet } : { form }),
    })
  const url = `${street}${form === undefined ? '/x402' : ''}${path}`
  let open: PaymentError['payment'] | undefined
  return async () => {
    try {
      const response = open === undefined ? await start()(url) : await start().resume(open)
      await response.text()
      return response.status
    } catch (error) {
      if (!(error instanceof PaymentError) || error instanceof PaymentRefused) throw error
      open = error.payment
      return 503
    }
  }
}
