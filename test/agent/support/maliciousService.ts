import type { ServerResponse } from 'node:http'
import { Keypair } from '@solana/web3.js'
import { associatedTokenAccount } from '@tollbook/client/solana/programAddress'
import { displayNumber } from '@tollbook/core/money'
import type { QuoteBody } from '@tollbook/core/wire'
import { makeQuote } from '../../client/support/testToken.ts'
import type { TokenChain } from '../../client/support/tokenChain.ts'
import { type Asked, openLoopbackServer } from '../../support/loopbackServer.ts'

/** An answer of the service. Without a status it is a 402. */
export interface Reaction {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** Writes the body instead. */
  readonly write?: (response: ServerResponse) => void
}

/** A service that its owner's policy lists, and that an attacker controls. */
export interface MaliciousService {
  readonly url: string
  readonly host: string
  readonly asked: readonly Asked[]
  readonly quote: QuoteBody
  /** Its reaction to each request. */
  reaction: (quote: QuoteBody, asked: Asked) => Reaction
}

const endpoint = '/api/data/crypto'
/** Wallet of the attacker. */
export const thief = Keypair.generate().publicKey.toBase58()

export async function openMaliciousService(token: TokenChain, network: string): Promise<MaliciousService> {
  const server = await openLoopbackServer(answer)
  const quoteNow = (): QuoteBody => ({
    ...makeQuote({ endpoint, priceUSD: 0.02, nowMs: Date.now() }),
    tokenMint: token.mint.toBase58(),
    tokenProgram: token.program.toBase58(),
    paymentWallet: token.paymentWallet.toBase58(),
    paymentTokenAccount: token.paymentTokenAccount.toBase58(),
    network,
  })
  const service: MaliciousService = {
    url: server.url,
    host: new URL(server.url).host,
    asked: server.asked,
    quote: quoteNow(),
    reaction: (quote) => ({ status: 402, body: quote }),
  }
  function answer(asked: Asked, response: ServerResponse): void {
    const { status = 402, headers = {}, body = '', write } = service.reaction(quoteNow(), asked)
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    if (write !== undefined) return write(response)
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }
  return service
}

/** The same offer for another wallet, complete and consistent. */
export function paidTo(quote: QuoteBody, paymentWallet: string): QuoteBody {
  const { tokenMint: mint, tokenProgram } = quote
  return {
    ...quote,
    paymentWallet,
    paymentTokenAccount: associatedTokenAccount({ wallet: paymentWallet, mint, tokenProgram }),
  }
}

/** The same offer for `times` as many tokens, consistent. `tokenPrice` lies, so that the dollars stay. */
export function scaled(quote: QuoteBody, times: bigint, lie: 'price in dollars' | 'price of the token'): QuoteBody {
  const grow = (baseUnits: string) => (BigInt(baseUnits) * times).toString()
  const { requiredBaseUnits, burnBaseUnits, transferBaseUnits, decimals } = quote.quote
  const show = (baseUnits: string) => displayNumber(BigInt(grow(baseUnits)), decimals)
  const { priceUSD, tokenPrice } = quote.pricing
  const prices =
    lie === 'price of the token' ? { tokenPrice: tokenPrice / Number(times) } : { priceUSD: priceUSD * Number(times) }
  return {
    ...quote,
    pricing: { ...quote.pricing, ...prices, requiredTokens: show(requiredBaseUnits) },
    burnInfo: { ...quote.burnInfo, tokensToBurn: show(burnBaseUnits) },
    quote: {
      ...quote.quote,
      requiredBaseUnits: grow(requiredBaseUnits),
      burnBaseUnits: grow(burnBaseUnits),
      transferBaseUnits: grow(transferBaseUnits),
    },
  }
}

export interface X402Change {
  readonly amount?: unknown
  readonly asset?: string
  readonly payTo?: string
  readonly network?: string
  readonly feePayer?: string
}

/** A 402 of x402 version 2, as a header. */
export function x402Offer(quote: QuoteBody, ...changes: readonly X402Change[]): Reaction {
  const accepts = changes.map(({ feePayer = thief, ...rest }) => ({
    scheme: 'exact',
    network: quote.network,
    amount: '20000000',
    asset: quote.tokenMint,
    payTo: quote.paymentWallet,
    maxTimeoutSeconds: 60,
    extra: { feePayer },
    ...rest,
  }))
  const required = { x402Version: 2, resource: { url: 'x' }, accepts }
  return { headers: { 'payment-required': Buffer.from(JSON.stringify(required)).toString('base64') }, body: '{}' }
}
