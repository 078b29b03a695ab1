import '@tollbook/core/quietBindings'
import { isDeepStrictEqual } from 'node:util'
import { createService } from '../../src/compose.ts'
import { isServiceConfig, readConfig } from '../../src/config.ts'
import { silentLog } from '../../src/machine/log.ts'
import { quoteBody } from '@tollbook/core/wire'
import { seedProducts } from '../support/seededProducts.ts'
import { exchange } from '../transport/rawSocket.ts'
import { type Meaning, type SpelledRequest, spelledRequests } from './paths/spelledRequests.ts'
import { openEnvironment } from './proofEnvironment.ts'
import { proofCommand } from './proofCommand.ts'
import { concludeProof, say } from './verdict.ts'

/*
 * Spellings of paths, methods, queries and bodies against products with and without segments, as bytes over a socket.
 * None reaches a handler without a payment, and with a payment none has another meaning than the one that its product
 * was paid for. A spelling without a meaning is refused before a price is asked.
 */

proofCommand('paths', 'No spelling of a request reaches a product unpaid or with another meaning.').parse()

await using environment = await openEnvironment()
const { payer } = environment
// Each request has its own client address, because an address that pays for few requests is turned away.
const config = readConfig({ ...environment.env, TRUSTED_PROXY_HOPS: '1' })
if (!isServiceConfig(config)) throw new Error('not configured')
const { reached, withSeeds } = seedProducts()
const service = await createService(config, { log: silentLog, seams: { products: withSeeds } })
const wrong: string[] = []
let addresses = 0

async function send(
  { method, target, headers = {}, body = '' }: SpelledRequest,
  more: Readonly<Record<string, string>>,
) {
  const isFramed = 'content-length' in headers || 'transfer-encoding' in headers
  const length = body === '' || isFramed ? {} : { 'content-length': String(body.length) }
  addresses++
  const address = `10.1.${addresses >> 8}.${addresses & 255}`
  const all = { 'x-forwarded-for': address, 'x-wallet-address': payer.address, ...headers, ...length, ...more }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  const text = await exchange(service.port, [`${method} ${target} HTTP/1.1`, 'Host: 127.0.0.1', ...lines], body)
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0), text }
}

const plain = new Map<string, SpelledRequest>()
const proofs = new Map<string, string>()

/** A proof that pays for one order of the product. It stays valid until an answer was delivered for it. */
async function proofFor(product: string): Promise<string> {
  const known = proofs.get(product)
  if (known !== undefined) return known
  const request = plain.get(product)
  if (request === undefined) throw new Error(`no plain request of ${product}`)
  const { text } = await send(request, {})
  const proof = await payer.pay(quoteBody.parse(JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4))))
  proofs.set(product, proof)
  return proof
}

const requests = spelledRequests()
for (const request of requests)
  if (request.meaning !== undefined && !plain.has(request.meaning.product)) plain.set(request.meaning.product, request)
const productsByPath = [...plain.keys()]

/** The product that a request without a meaning comes closest to: its proof is the one that would be misused. */
function nearest({ method, target }: SpelledRequest): string {
  const word =
    ['items', 'notes', 'tags', 'pictures', 'forecast'].find((each) => target.toLowerCase().includes(each)) ?? 'items'
  const near = productsByPath.filter((product) => product.includes(word))
  return near.find((product) => product.startsWith(`${method} `)) ?? near[0] ?? 'GET /toy/items/{id}'
}

function reachedAs(meaning: Meaning): boolean {
  const [only, ...more] = reached
  return (
    more.length === 0 && only?.product === meaning.product && isDeepStrictEqual(only.parameters, meaning.parameters)
  )
}

let refused = 0
let sold = 0
for (const request of requests) {
  const { method, target, meaning } = request
  const name = `${method} ${target} ${request.body ?? ''}`.trim()
  reached.length = 0
  const unpaid = await send(request, {})
  if (reached.length > 0) wrong.push(`unpaid, and reached: ${name}`)
  if (meaning === undefined ? unpaid.status === 402 : unpaid.status !== 402)
    wrong.push(`${unpaid.status} without a payment: ${name}`)
  const product = meaning?.product ?? nearest(request)
  const paid = await send(request, { 'x-payment-proof': await proofFor(product) })
  if (meaning === undefined) {
    const isRefused =
      reached.length === 0 && (paid.status === 204 || (paid.status >= 400 && paid.status !== 402 && paid.status < 500))
    if (!isRefused) wrong.push(`${paid.status} with a payment, reached ${JSON.stringify(reached)}: ${name}`)
    refused++
  } else {
    if (paid.status !== 200 || !reachedAs(meaning))
      wrong.push(`${paid.status}, reached ${JSON.stringify(reached)}: ${name}`)
    proofs.delete(product)
    sold++
  }
}
await service.close()
say(`${requests.length} spellings, each without and with a payment`)
concludeProof({
  holds: wrong.length === 0 && requests.length >= 500,
  lines: [
    `${sold} sold with their only meaning, ${refused} refused before a price, ${wrong.length} wrong`,
    ...wrong.slice(0, 40),
  ],
})
