import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { errorText } from '@tollbook/core/fault'
import { expect, test } from 'vitest'
import { listenOnLoopback } from '../support/loopbackServer.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import { openTestService } from '../support/testService.ts'

const service = await openTestService()
const file = join(await makeScratchDirectory(), 'file')
await writeFile(file, 'neither a checkpoint nor a folder')

/** Settings that only the machine, the chain or the ledger can refuse. */
const refused: readonly (readonly [name: string, env: Readonly<Record<string, string>>])[] = [
  ['HOST', { HOST: '192.0.2.1' }],
  ['HOST', { HOST: 'no-such-host.invalid' }],
  ['HEALTH_HOST', { HEALTH_HOST: '192.0.2.1', HEALTH_PORT: '0' }],
  [
    'FINANCE_HOST',
    { FINANCE_HOST: '192.0.2.1', FINANCE_PORT: '0', FINANCE_ISSUER: 'i', FINANCE_JWKS_URL: 'http://127.0.0.1:1/' },
  ],
  ['ARTIFACT_DIR', { ARTIFACT_DIR: join(file, 'artifacts') }],
  ['CHECKPOINT_FILE', { CHECKPOINT_FILE: file }],
  ['CHECKPOINT_FILE', { CHECKPOINT_FILE: join(file, 'checkpoint') }],
  ['CHROMIUM_PATH', { CHROMIUM_PATH: join(file, 'chromium'), RENDER_CONCURRENCY: '1' }],
  ['DATABASE_URL', { DATABASE_URL: 'postgres://api:pw@127.0.0.1:1/tollbook' }],
  ['DATABASE_URL', { DATABASE_URL: `${service.database.serviceUrl}_none` }],
  ['SOLANA_RPC_URLS', { SOLANA_RPC_URLS: 'http://127.0.0.1:1/' }],
  ['TOKEN_MINT', { TOKEN_MINT: '11111111111111111111111111111111' }],
  ['PAYMENT_WALLET', { PAYMENT_WALLET: '11111111111111111111111111111111' }],
  ['LEDGER_ORIGIN', { LEDGER_ORIGIN: 'example.com/other' }],
  ['SPLIT', { SPLIT: 'burn:40,provider:60' }],
  ['PRICES_USD', { PRICES_USD: '/api/data/cyrpto=1' }],
  ['PRODUCTS_OFF', { PRODUCTS_OFF: '/api/data/cyrpto' }],
]

test.each(refused)('a start that %s prevents says so', async (name, env) => {
  const problem = await openTestService({ besides: service, env }).then(
    () => 'it starts',
    (error: unknown) => (error instanceof Error ? errorText(error) : String(error)),
  )
  expect(problem).toContain(name)
})

test('a start that fails leaves no listener on the port that it had opened first', async () => {
  const taken = createServer()
  const url = await listenOnLoopback(taken)
  await new Promise((resolve) => taken.close(resolve))
  const { port: PORT } = new URL(url)
  const finance = { FINANCE_PORT: '0', FINANCE_ISSUER: 'i', FINANCE_JWKS_URL: 'http://127.0.0.1:1/' }
  const env = { PORT, FINANCE_HOST: '192.0.2.1', ...finance }
  await expect(openTestService({ besides: service, env })).rejects.toThrow()
  await expect(fetch(`${url}/livez`)).rejects.toThrow('fetch failed')
})
