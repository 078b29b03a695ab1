import { createServer } from 'node:http'
import { createKeyPairSignerFromBytes } from '@solana/kit'
import { charge, Mppx } from '@solana/mpp/server'
import type { Keypair } from '@solana/web3.js'
import { x402Facilitator } from '@x402/core/facilitator'
import { paymentMiddleware, x402ResourceServer } from '@x402/express'
import { toFacilitatorSvmSigner } from '@x402/svm'
import { ExactSvmScheme as FacilitatorScheme } from '@x402/svm/exact/facilitator'
import { ExactSvmScheme as ServerScheme } from '@x402/svm/exact/server'
import express from 'express'
import { listenOnLoopback, openLoopbackServer } from '../../support/loopbackServer.ts'
import { devnet } from './sponsoredServer.ts'
import type { TokenChain } from './tokenChain.ts'

/** The exact scheme, and the facilitator in the same process. */
export async function stockX402(token: TokenChain, feePayer: Keypair, amount: string) {
  const signer = await createKeyPairSignerFromBytes(feePayer.secretKey)
  const { rpcUrl } = token.chain
  const facilitator = new x402Facilitator().register(
    devnet,
    new FacilitatorScheme(toFacilitatorSvmSigner(signer, { defaultRpcUrl: rpcUrl })),
  )
  const client = {
    verify: facilitator.verify.bind(facilitator),
    settle: facilitator.settle.bind(facilitator),
    getSupported: () => {
      const supported = facilitator.getSupported()
      // Its own type of a network is a plain string, and a client's is not.
      return Promise.resolve({ ...supported, kinds: supported.kinds.map((kind) => ({ ...kind, network: devnet })) })
    },
  } as const
  const server = new x402ResourceServer(client).register(devnet, new ServerScheme({ rpcUrl }))
  const price = { asset: token.mint.toBase58(), amount }
  const payTo = token.paymentWallet.toBase58()
  return { server, accepts: { scheme: 'exact', price, network: devnet, payTo, maxTimeoutSeconds: 60 } as const }
}

/** Stock x402 as its documentation shows it, with express. */
export async function openStockX402(token: TokenChain, feePayer: Keypair, amount: string): Promise<{ url: string }> {
  const { server, accepts } = await stockX402(token, feePayer, amount)
  const app = express()
  app.use(paymentMiddleware({ 'GET /': { accepts, description: 'a price' } }, server))
  app.get('/', (_request, response) => void response.json({ bought: true }))
  return { url: `${await listenOnLoopback(createServer(app))}/` }
}

export async function stockMppMethod(token: TokenChain, feePayer: Keypair) {
  return charge({
    recipient: token.paymentWallet.toBase58(),
    currency: token.mint.toBase58(),
    decimals: 6,
    network: 'localnet',
    rpcUrl: token.chain.rpcUrl,
    tokenProgram: token.program.toBase58(),
    signer: await createKeyPairSignerFromBytes(feePayer.secretKey),
  })
}

/** Stock MPP: mppx with the charge of @solana/mpp, which co-signs as the fee payer. */
export async function openStockMpp(token: TokenChain, feePayer: Keypair, amount: string): Promise<{ url: string }> {
  const mppx = Mppx.create({
    methods: [await stockMppMethod(token, feePayer)],
    secretKey: 'a secret of the test with enough length',
  })
  const sell = mppx.charge({ amount, currency: token.mint.toBase58() })
  return openLoopbackServer(({ headers }, response) => {
    const sent = Object.entries(headers).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : []))
    void (async () => {
      const sale = await sell(new Request('http://127.0.0.1/', { headers: Object.fromEntries(sent) }))
      const answer = sale.status === 402 ? sale.challenge : sale.withReceipt(Response.json({ bought: true }))
      response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text())
    })()
  })
}
