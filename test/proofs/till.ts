import { createKeyPairSignerFromBytes } from '@solana/kit'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { ExactSvmScheme } from '@x402/svm/exact/client'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { z } from 'zod'
import { systemClock } from '@tollbook/core/clock'
import { processMs } from '../../bench/peer/processTime.ts'
import { median } from '../../bench/yardstick.ts'
import { assertPresent } from '@tollbook/core/assert'
import { makeTemporaryDirectory } from '../support/temporaryDirectory.ts'
import { proofCommand } from './proofCommand.ts'
import { concludeProof, say } from './verdict.ts'

/*
 * A new operator's way with the packed packages, from an empty folder to a clean audit after the first sale to a stock
 * x402 client. Then the size of the till alone, and its time to `listening` on the migrated database.
 */

proofCommand('till', 'Installs the packed till, sells an API by it, and audits. Needs the npm registry.').parse()

const staging = resolve('.packed')
const commandsMax = 6
const megabytesMax = 250
const startMsMax = 2_000
const starts = 5
const devnet = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1'

const localShape = z.object({
  baseUrl: z.string(),
  rpcUrl: z.string(),
  databaseUrl: z.string(),
  tokenMint: z.string(),
  paymentWallet: z.string(),
  demoWallet: z.object({ keypairPath: z.string() }),
})

await using opened = new AsyncDisposableStack()
const scratch = await makeTemporaryDirectory()
opened.defer(scratch.remove)
const folder = join(scratch.path, 'operator')
const commands: string[] = []
const problems: string[] = []

/** Runs a command of the operator and counts it. */
function type(...[program = '', ...words]: readonly string[]): string {
  const shown = words.map((word) =>
    word.startsWith(staging) ? '…tgz' : word.replace(/^postgres:.*/, '"$DATABASE_URL"'),
  )
  commands.push([program, ...shown].join(' '))
  return execFileSync(program, [...words], { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}

say('packing')
execFileSync('npm', ['run', 'pack'], { stdio: 'ignore' })
const tarballs = (names: readonly string[]) =>
  readdirSync(staging)
    .filter((file) => names.some((name) => new RegExp(`^${name}-\\d[^/]*\\.tgz$`).test(file)))
    .map((file) => join(staging, file))
const tillAlone = tarballs([
  'tollbook',
  'tollbook-core',
  'tollbook-client',
  'tollbook-ledger',
  'tollbook-audit',
  'tollbook-agent',
])
const localMode = tarballs(['tollbook-localnet', 'tollbook-sandbox'])

/** The API of the operator. It contains no code about payments. */
const api = createServer((_request, response) => {
  response.setHeader('content-type', 'application/json').end('{"ok":true,"name":"a1"}')
}).listen(0, '127.0.0.1')
await once(api, 'listening')
opened.defer(() => void api.close())
const apiPort = z.object({ port: z.int() }).parse(api.address()).port

const productsFile = `version: 1
upstreams: { acme: { url: "http://127.0.0.1:${apiPort}/v1" } }
routes:
  - path: /acme/items
    summary: One item of Acme
    upstream: acme
    to: /items/{id}
    price: { usd: "0.01" }
    parameters:
      required: [id]
      properties: { id: { type: string, maxLength: 40 } }
    example: { id: a1 }
`

const words = (...names: readonly string[]) => ['npm', 'install', '--no-audit', '--no-fund', ...names]
const began = systemClock.monotonicMs()
mkdirSync(folder)
type(...words(...tillAlone, ...localMode))
say(`installed with local mode: ${sizeOf(folder)} MB`)
writeFileSync(join(folder, 'tollbook.yaml'), productsFile)
commands.push(`cat > tollbook.yaml (${productsFile.trimEnd().split('\n').length} lines)`)
say(type('npx', 'tollbook', 'products', 'check', 'tollbook.yaml').trim())

const serving = ['tollbook', 'serve', '--local', '--products', 'tollbook.yaml']
commands.push(`npx ${serving.join(' ')}`)
const service = await serve(serving, { PORT: '0' })
opened.defer(service.stop)
say(`local mode listens after ${Math.round(service.startMs)} ms`)
const local = localShape.parse(JSON.parse(readFileSync(join(folder, '.tollbook/local.json'), 'utf8')))

commands.push('a stock @x402/fetch client buys /acme/items?id=a1')
const bought = await buyByStockClient()
say(`sale: HTTP ${bought.status}, ${bought.text}, receipt ${bought.receipt ? 'present' : 'absent'}`)
if (bought.status !== 200 || !bought.receipt) problems.push('the stock client did not buy')

try {
  const report = type('npx', 'tollbook', 'audit', '--chain', local.rpcUrl, '--database', local.databaseUrl)
  say(`audit, exit code 0:\n${report.trimEnd()}`)
} catch (error) {
  problems.push(`the audit is not clean: ${String(error)}`)
}
const minutes = (systemClock.monotonicMs() - began) / 60_000
if (commands.length > commandsMax) problems.push(`${commands.length} commands, at most ${commandsMax}`)

const alone = join(scratch.path, 'alone')
mkdirSync(alone)
execFileSync('npm', words(...tillAlone).slice(1), { cwd: alone, stdio: 'ignore' })
const megabytes = sizeOf(alone)
if (megabytes > megabytesMax) problems.push(`${megabytes} MB installed, at most ${megabytesMax}`)

const { startMs, processorMs } = await measureStarts()
if (startMs > startMsMax) problems.push(`${startMs} ms to listening, at most ${startMsMax}`)

concludeProof({
  holds: problems.length === 0,
  lines: [
    ...commands.map((command, index) => `  ${index + 1}. ${command}`),
    `${commands.length} commands, ${minutes.toFixed(1)} minutes (goal: at most ${commandsMax} commands)`,
    `till alone: ${megabytes} MB installed without Node (goal: at most ${megabytesMax})`,
    `till alone: ${startMs} ms to listening on a migrated database, ${processorMs} ms of processor time, medians of ${starts} (goal: at most ${startMsMax})`,
    ...problems,
  ],
})

function sizeOf(at: string): number {
  return Number(execFileSync('du', ['-sm', 'node_modules'], { cwd: at, encoding: 'utf8' }).split('\t')[0])
}

/** Starts a service, and returns the time until it prints that it listens. */
async function serve(args: readonly string[], env: Readonly<Record<string, string>>, at = folder) {
  const startedAt = systemClock.monotonicMs()
  const [program = '', ...rest] = args
  const child = spawn(join(at, 'node_modules/.bin', program), rest, {
    cwd: at,
    env: { PATH: process.env['PATH'], HOME: scratch.path, LOG_LEVEL: 'fatal', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const gone = once(child, 'exit')
  for await (const line of createInterface({ input: child.stdout })) if (line.startsWith('listening on ')) break
  child.stdout.resume()
  const startMs = systemClock.monotonicMs() - startedAt
  return {
    startMs,
    processorMs: await processMs(assertPresent(child.pid, 'a service that listens has a pid')),
    async stop() {
      child.kill('SIGTERM')
      await gone
    },
  }
}

async function buyByStockClient() {
  const key = Uint8Array.from(z.array(z.int()).parse(JSON.parse(readFileSync(keypairPath(), 'utf8'))))
  const scheme = new ExactSvmScheme(await createKeyPairSignerFromBytes(key), { rpcUrl: local.rpcUrl })
  const client = new x402Client().register(devnet, scheme).setSpendControls(false)
  const response = await wrapFetchWithPayment(globalThis.fetch, client)(`${local.baseUrl}/x402/acme/items?id=a1`)
  const receipt = response.headers.has('payment-response') && response.headers.has('tollbook-receipt')
  return { status: response.status, text: await response.text(), receipt }
}

function keypairPath(): string {
  return resolve(folder, '.tollbook', local.demoWallet.keypairPath)
}

/** Starts the till with an operator's configuration on the database of local mode. */
async function measureStarts() {
  const env = {
    DATABASE_URL: local.databaseUrl,
    SOLANA_RPC_URLS: local.rpcUrl,
    TOKEN_MINT: local.tokenMint,
    PAYMENT_WALLET: local.paymentWallet,
    RECEIPT_SIGNING_KEY_FILE: join(folder, '.tollbook/keys/receipt-key.json'),
    TOKEN_PRICE_USD: '0.001',
    PRODUCTS_FILE: join(folder, 'tollbook.yaml'),
    HOST: '127.0.0.1',
    PORT: '0',
  }
  const measured: { readonly startMs: number; readonly processorMs: number }[] = []
  for (let start = 0; start < starts; start++) {
    const started = await serve(['tollbook', 'serve'], env, alone)
    measured.push(started)
    await started.stop()
  }
  return {
    startMs: Math.round(median(measured.map((one) => one.startMs))),
    processorMs: Math.round(median(measured.map((one) => one.processorMs))),
  }
}
