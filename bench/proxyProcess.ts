import '@tollbook/core/quietBindings'
import { createServer } from 'node:http'
import { createKeyPairSignerFromBytes } from '@solana/kit'
import { charge, Mppx } from '@solana/mpp/server'
import { Proxy, Service } from 'mppx/proxy'
import { z } from 'zod'
import { decodeBase58 } from '@tollbook/core/base58'
import { assertPresent } from '@tollbook/core/assert'
import { peerSettings } from './peer/peerSettings.ts'

// `mppx/proxy` as its documentation shows it, with the Solana method that signs as fee payer in the same process.
const settings = peerSettings.parse(JSON.parse(process.argv[2] ?? ''))
const secretKey = assertPresent(decodeBase58(settings.feePayerSecret, 64), 'the fee payer has a secret key')
const method = charge({
  recipient: settings.payTo,
  currency: settings.mint,
  decimals: 6,
  network: 'localnet',
  rpcUrl: settings.rpcUrl,
  signer: await createKeyPairSignerFromBytes(secretKey),
})
const mppx = Mppx.create({ methods: [method], secretKey: settings.feePayerSecret })
const acme = Service.from('acme', {
  baseUrl: assertPresent(settings.upstreamUrl, 'the proxy has an upstream'),
  routes: { 'GET /items/a1': mppx.charge({ amount: settings.amountBaseUnits, currency: settings.mint }) },
})
const server = createServer(Proxy.create({ services: [acme] }).listener).listen(0, '127.0.0.1', () => {
  const { port } = z.object({ port: z.int() }).parse(server.address())
  process.stdout.write(`${JSON.stringify({ port })}\n`)
})
process.stdin.on('end', () => process.exit()).resume()
