import type { ServerResponse } from 'node:http'
import { type Keypair, VersionedTransaction } from '@solana/web3.js'
import { z } from 'zod'
import { assertPresent } from '@tollbook/core/assert'
import { toBase64Url, utf8Bytes } from '@tollbook/core/bytes'
import type { SponsoredProtocol } from '@tollbook/client/sponsored/sponsoredOffer'
import { type Asked, openLoopbackServer } from '../../support/loopbackServer.ts'
import type { TokenChain } from './tokenChain.ts'

/** Behaviour of the server after it has put the payment on chain. */
export type Misdeed =
  | 'deliver'
  | 'hang'
  | 'reset'
  | 'answer 502'
  | 'ask again for ten times as much'
  | 'redirect'
  | 'refuse'
  | 'deliver without a receipt'
  | 'begin a stream'

export interface OfferChange {
  readonly amount?: string
  readonly mint?: string
  readonly payTo?: string
  readonly network?: string
  readonly feePayer?: string
}

/** A service of another protocol that co-signs and sends each payment that it is shown, and then misbehaves. */
export interface SponsoredServer {
  readonly url: string
  /** One for each request with a payment; when none is left, it delivers. */
  misdeeds: Misdeed[]
  change: OfferChange
  redirectTo: string
  onHang: () => void
  /** Ends the stream that was begun. */
  endStream: () => void
  /** Values of the header that carries the payment. */
  readonly payments: readonly string[]
}

/** The stock libraries know three networks by name; the local chain goes by one of them. */
export const devnet = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1' as const
// A counter makes each offer's memo another one.
let offers = 0
const amount = '20000000'
const encode = (content: object) => Buffer.from(JSON.stringify(content)).toString('base64')

interface Words {
  readonly paymentHeader: string
  readonly settled: Readonly<Record<string, string>>
  offer(change: OfferChange): Readonly<Record<string, string>>
}

export async function startSponsoredServer(
  token: TokenChain,
  protocol: SponsoredProtocol,
  feePayer: Keypair,
): Promise<SponsoredServer> {
  const payments: string[] = []
  const settled = new Set<string>()
  const words = wordsOf(token, feePayer)[protocol]
  const { url } = await openLoopbackServer((asked, response) => void handle(asked, response))
  const server: SponsoredServer = {
    url,
    misdeeds: [],
    change: {},
    redirectTo: '',
    onHang: () => undefined,
    endStream: () => undefined,
    payments,
  }

  async function handle({ headers }: Asked, response: ServerResponse): Promise<void> {
    const payment = headers[words.paymentHeader]
    if (typeof payment !== 'string') return send(response, 402, words.offer(server.change))
    payments.push(payment)
    if (!settled.has(payment)) await settle(payment)
    settled.add(payment)
    misbehave(server.misdeeds.shift() ?? 'deliver', response)
  }

  async function settle(payment: string): Promise<void> {
    const { payload } = credential.parse(JSON.parse(Buffer.from(payment.replace('Payment ', ''), 'base64').toString()))
    const transaction = VersionedTransaction.deserialize(Buffer.from(payload.transaction, 'base64'))
    transaction.sign([feePayer])
    const signature = await token.connection.sendRawTransaction(transaction.serialize())
    const latest = await token.connection.getLatestBlockhash('confirmed')
    await token.connection.confirmTransaction({ signature, ...latest }, 'confirmed')
  }

  function misbehave(misdeed: Misdeed, response: ServerResponse): void {
    const acts: Readonly<Record<Misdeed, () => unknown>> = {
      deliver: () => send(response, 200, words.settled),
      hang: () => server.onHang(),
      reset: () => response.destroy(),
      'answer 502': () => send(response, 502),
      'ask again for ten times as much': () => send(response, 402, words.offer({ amount: `${amount}0` })),
      redirect: () => response.writeHead(307, { location: server.redirectTo }).end(),
      refuse: () => send(response, 403),
      'deliver without a receipt': () => send(response, 200),
      'begin a stream': () => {
        response.writeHead(200, { 'content-type': 'text/event-stream', ...words.settled }).write('data: 1\n\n')
        server.endStream = () => response.end('data: 2\n\n')
      },
    }
    assertPresent(acts[misdeed], 'each misdeed has an act')()
  }
  return server
}

const credential = z.object({ payload: z.object({ transaction: z.string() }) })

function wordsOf(token: TokenChain, { publicKey }: Keypair): Readonly<Record<SponsoredProtocol, Words>> {
  const honest = { amount, mint: token.mint.toBase58(), payTo: token.paymentWallet.toBase58(), network: devnet }
  return {
    x402: {
      paymentHeader: 'payment-signature',
      settled: { 'payment-response': encode({ success: true, transaction: 'x', network: devnet }) },
      offer(change) {
        const { mint: asset, feePayer = publicKey.toBase58(), ...rest } = { ...honest, ...change }
        const accepts = [{ scheme: 'exact', asset, ...rest, maxTimeoutSeconds: 60, extra: { feePayer } }]
        return { 'payment-required': encode({ x402Version: 2, resource: { url: 'x' }, accepts }) }
      },
    },
    mpp: {
      paymentHeader: 'authorization',
      settled: { 'payment-receipt': toBase64Url(utf8Bytes(JSON.stringify({ status: 'success' }))) },
      offer(change) {
        const { mint: currency, payTo: recipient, network, ...rest } = { ...honest, ...change }
        const feePayerKey = rest.feePayer ?? publicKey.toBase58()
        const methodDetails = { network: network === devnet ? 'devnet' : 'mainnet-beta', feePayer: true, feePayerKey }
        const request = toBase64Url(
          utf8Bytes(
            JSON.stringify({
              amount: rest.amount,
              currency,
              recipient,
              externalId: `offer ${offers++}`,
              methodDetails,
            }),
          ),
        )
        return {
          'www-authenticate': `Basic realm="a, \\"b\\"", Payment id="1", realm="x", method="solana", intent="charge", request="${request}"`,
        }
      },
    },
  }
}

function send(response: ServerResponse, status: number, headers: Readonly<Record<string, string>> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify({ status }))
}
