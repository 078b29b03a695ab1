import type { ServerResponse } from 'node:http'
import { encodeBase58 } from '@tollbook/core/base58'
import { randomBytesOf } from '@tollbook/core/id'
import type { QuoteBody } from '@tollbook/core/wire'
import { assertPresent } from '@tollbook/core/assert'
import { type Asked, openLoopbackServer } from '../../support/loopbackServer.ts'
import { readPresentedProof } from './presentedProof.ts'
import { makeQuote } from './testToken.ts'
import type { TokenChain } from './tokenChain.ts'

/** Behaviour of the server after it has put the payment on chain. */
export type Misdeed =
  | 'deliver'
  | 'hang'
  | 'reset'
  | 'answer 502'
  | 'ask again'
  | 'ask again for ten times as much'
  | 'redirect'
  | 'say that it refuses for good'
  | 'say that the key was used'
  | 'deliver without a receipt'
  | 'deliver with the receipt of another payment'

/** A service that takes each payment that it is shown, and then misbehaves. */
export interface HostileServer {
  readonly url: string
  /** One for each request with a proof; when none is left, it delivers. */
  misdeeds: Misdeed[]
  /** Alters the offer. */
  offer: (honest: QuoteBody) => unknown
  /** Target of its redirects; `redirectsAll` redirects unpaid requests too. */
  redirectTo: string
  redirectsAll: boolean
  onHang: () => void
  readonly proofs: readonly string[]
}

const endpoint = '/api/data/crypto'

export async function startHostileServer(token: TokenChain, network: string): Promise<HostileServer> {
  const proofs: string[] = []
  const settled = new Set<string>()
  const { url } = await openLoopbackServer((asked, response) => void handle(asked, response))
  const hostile: HostileServer = {
    url: url + endpoint,
    misdeeds: [],
    offer: (honest) => honest,
    redirectTo: '',
    redirectsAll: false,
    onHang: () => undefined,
    proofs,
  }

  async function handle({ headers }: Asked, response: ServerResponse): Promise<void> {
    const proof = headers['x-payment-proof']
    if (hostile.redirectsAll) return redirect(response)
    if (typeof proof !== 'string') return send(response, 402, hostile.offer(quoteOf(0.02)))
    proofs.push(proof)
    misbehave(hostile.misdeeds.shift() ?? 'deliver', response, await settle(proof))
  }

  function quoteOf(priceUSD: number): QuoteBody {
    return {
      ...makeQuote({ endpoint, priceUSD, nowMs: Date.now() }),
      tokenMint: token.mint.toBase58(),
      tokenProgram: token.program.toBase58(),
      paymentWallet: token.paymentWallet.toBase58(),
      paymentTokenAccount: token.paymentTokenAccount.toBase58(),
      network,
    }
  }

  /** Sends the transaction that was presented, like an honest service. */
  async function settle(proof: string): Promise<string> {
    const { transaction, signature } = readPresentedProof(proof)
    if (settled.has(signature)) return signature
    settled.add(signature)
    if (transaction !== undefined) await token.connection.sendRawTransaction(transaction.serialize())
    const { blockhash, lastValidBlockHeight } = await token.connection.getLatestBlockhash('confirmed')
    await token.connection.confirmTransaction({ signature, blockhash, lastValidBlockHeight }, 'confirmed')
    return signature
  }

  function misbehave(misdeed: Misdeed, response: ServerResponse, signature: string): void {
    const acts: Readonly<Record<Misdeed, () => unknown>> = {
      deliver: () => send(response, 200, { success: true, receipt: { signature } }),
      hang: () => hostile.onHang(),
      reset: () => response.destroy(),
      'answer 502': () => send(response, 502, 'Bad Gateway'),
      'ask again': () => send(response, 402, quoteOf(0.02)),
      'ask again for ten times as much': () => send(response, 402, quoteOf(0.2)),
      redirect: () => redirect(response),
      'say that it refuses for good': () =>
        send(response, 402, { error: 'no', code: 'INVALID_PAYMENT', reason: 'simulation_failed' }),
      'say that the key was used': () => send(response, 422, { error: 'no', code: 'IDEMPOTENCY_KEY_REUSED' }),
      'deliver without a receipt': () => send(response, 200, { success: true }),
      'deliver with the receipt of another payment': () =>
        send(response, 200, { success: true, receipt: { signature: encodeBase58(randomBytesOf(64)) } }),
    }
    assertPresent(acts[misdeed], 'each misdeed has an act')()
  }

  function redirect(response: ServerResponse): void {
    response.writeHead(307, { location: hostile.redirectTo }).end()
  }

  return hostile
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(typeof body === 'string' ? body : JSON.stringify(body))
}
