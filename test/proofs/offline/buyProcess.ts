import '@tollbook/core/quietBindings'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { createPayingFetch } from '@tollbook/client/payingFetch'
import { readKeypairFile } from '@tollbook/client/node'
import { products } from '../../support/builtinProducts.ts'
import { requestOf } from '../../../src/product/productFacts.ts'
import { concludeProof, say } from '../verdict.ts'

/** Runs inside the network namespace, because nothing outside reaches its loopback. */

const localJson = z.object({
  baseUrl: z.string(),
  rpcUrl: z.string(),
  tokenMint: z.string(),
  demoWallet: z.object({ address: z.string(), keypairPath: z.string() }),
  sampleUpstreams: z.object({ pageUrl: z.string() }),
})

const home = await mkdtemp(join(tmpdir(), 'tollbook-offline-'))
const mainFile = fileURLToPath(new URL('../../../src/main.ts', import.meta.url))
const { PATH = '', HOME = '' } = process.env
const env = { PATH, HOME, TOLLBOOK_HOME: home, PORT: '0', LOG_LEVEL: 'error' }
const service = spawn(process.execPath, [mainFile], { env, stdio: ['ignore', 'pipe', 'inherit'] })
try {
  for await (const line of createInterface({ input: service.stdout })) {
    if (!line.startsWith('listening on')) continue
    say(line)
    break
  }
  const failures = await buyAll()
  concludeProof({ holds: failures === 0, lines: [`${products.length - failures} of ${products.length} products sold`] })
} finally {
  const ended = once(service, 'exit')
  service.kill('SIGTERM')
  await ended
  await rm(home, { recursive: true, force: true })
}

/** Number of products that could not be bought as promised. */
async function buyAll(): Promise<number> {
  const local = localJson.parse(JSON.parse(await readFile(join(home, 'local.json'), 'utf8')))
  const payingFetch = createPayingFetch({
    wallet: await readKeypairFile(local.demoWallet.keypairPath),
    rpcUrl: local.rpcUrl,
    expectedMint: local.tokenMint,
    spendingLimit: { perRequest: { usd: '0.10' } },
  })
  let failures = 0
  for (const product of products.filter(({ stream }) => stream === undefined)) {
    const { target, body } = requestOf(product, product.demo.order({ pageUrl: local.sampleUpstreams.pageUrl }))
    const url = new URL(target, local.baseUrl)
    const headers = { 'content-type': 'application/json' }
    const init = { method: product.method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
    const unpaid = await fetch(url, { ...init, headers: { ...headers, 'x-wallet-address': local.demoWallet.address } })
    await unpaid.body?.cancel()
    const paid = await payingFetch(url, init)
    const { meta } = z.object({ meta: z.object({ source: z.string() }) }).parse(await paid.json())
    const isMarked = paid.headers.get('x-sample-data') === 'true' && meta.source.startsWith('sample:')
    const isRight = unpaid.status === 402 && paid.status === 200 && isMarked === product.providers.length > 0
    if (!isRight) failures++
    say(`${isRight ? 'ok    ' : 'FAILED'} ${product.path}: ${unpaid.status}, then ${paid.status} from ${meta.source}`)
  }
  return failures
}
