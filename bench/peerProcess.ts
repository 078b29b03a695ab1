import type { AddressInfo } from 'node:net'
import '@tollbook/core/quietBindings'
import { createKeyPairSignerFromBytes } from '@solana/kit'
import { x402Facilitator } from '@x402/core/facilitator'
import { paymentMiddleware, x402ResourceServer } from '@x402/express'
import { toFacilitatorSvmSigner } from '@x402/svm'
import { ExactSvmScheme as FacilitatorScheme } from '@x402/svm/exact/facilitator'
import { ExactSvmScheme as ServerScheme } from '@x402/svm/exact/server'
import express from 'express'
import { decodeBase58 } from '@tollbook/core/base58'
import { assertPresent } from '@tollbook/core/assert'
import { devnet, peerSettings } from './peer/peerSettings.ts'

// Stock x402 as its documentation shows it: express, the exact scheme, and the facilitator in the same process. With
// `rpcUrl` the scheme would ask its node for a blockhash at each 402, which its default options do not.
const settings = peerSettings.parse(JSON.parse(process.argv[2] ?? ''))
const secretKey = assertPresent(decodeBase58(settings.feePayerSecret, 64), 'the fee payer has a secret key')
const signer = await createKeyPairSignerFromBytes(secretKey)
const facilitator = new x402Facilitator().register(
  devnet,
  new FacilitatorScheme(toFacilitatorSvmSigner(signer, { defaultRpcUrl: settings.rpcUrl })),
)
const client = {
  verify: facilitator.verify.bind(facilitator),
  settle: facilitator.settle.bind(facilitator),
  // Its own type of a network is a plain string, and a client's is not.
  getSupported: () => {
    const supported = facilitator.getSupported()
    return Promise.resolve({ ...supported, kinds: supported.kinds.map((kind) => ({ ...kind, network: devnet })) })
  },
}
const server = new x402ResourceServer(client).register(devnet, new ServerScheme())
const price = { asset: settings.mint, amount: settings.amountBaseUnits }
const accepts = { scheme: 'exact', price, network: devnet, payTo: settings.payTo, maxTimeoutSeconds: 60 } as const

const app = express()
app.use(paymentMiddleware({ 'GET /api/data/crypto': { accepts, description: 'a price' } }, server))
app.get('/api/data/crypto', (request, response) => {
  if (settings.upstreamUrl === undefined)
    response.json({ success: true, data: { symbol: request.query['symbol'], servedBy: process.pid } })
  else void passOn(`${settings.upstreamUrl}/items/a1`, response)
})

async function passOn(url: string, response: express.Response): Promise<void> {
  const answer = await fetch(url)
  response.type('application/json').send(Buffer.from(await answer.arrayBuffer()))
}

const listening = app.listen(0, '127.0.0.1', () => {
  const { port }: Partial<AddressInfo> = Object(listening.address())
  process.stdout.write(`${JSON.stringify({ port })}\n`)
})
process.stdin.on('end', () => process.exit()).resume()
