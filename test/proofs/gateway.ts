import '@tollbook/core/quietBindings'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Socket } from 'node:net'
import { z } from 'zod'
import { assert } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { quoteBody } from '@tollbook/core/wire'
import { createService } from '../../src/compose.ts'
import { isServiceConfig, readConfig } from '../../src/config.ts'
import { silentLog } from '../../src/machine/log.ts'
import {
  faults,
  honest,
  honestStream,
  honestText,
  openFailingUpstream,
  streamFaults,
} from '../gateway/failingUpstream.ts'
import { ledgerFindings } from '../support/ledgerFindings.ts'
import { proofCommand, wholeNumber } from './proofCommand.ts'
import { openEnvironment } from './proofEnvironment.ts'
import { readProofLedger } from './proofLedger.ts'
import { concludeProof, say } from './verdict.ts'

/*
 * An upstream of a products file fails in every way of `failingUpstream.ts`. Nothing is charged for a failure, the same
 * proof buys the honest answer afterwards, and other routes sell while one upstream is hostile.
 */

const options = proofCommand('gateway', 'Failures of the upstreams of a products file are not charged.')
  .option('--failures <n>', 'failures in all, over all kinds', wholeNumber, 1_000)
  .option('--lanes <n>', 'kinds at the same time', wholeNumber, 6)
  .parse()
  .opts<{ failures: number; lanes: number }>()

interface Kind {
  readonly name: string
  readonly path: string
  readonly fails: (socket: Socket) => void
  readonly answers: (socket: Socket) => void
  readonly sold: string
  readonly isPausing: boolean
}

const kinds: readonly Kind[] = [
  ...Object.entries(faults).map(([name, { answer }]) => ({ name, fails: answer, answers: honest, sold: honestText })),
  ...Object.entries(streamFaults).map(([name, fails]) => ({
    name,
    fails,
    answers: honestStream,
    sold: 'data: 1\n\ndata: [DONE]\n\n',
  })),
].map((kind, index) => ({ ...kind, path: `/kind/${index}`, isPausing: /429|503/.test(kind.name) }))

await using opened = new AsyncDisposableStack()
const environment = opened.use(await openEnvironment())
const { payer, database } = environment
// One upstream for each kind, because the breaker of one closes all of its routes.
const upstreams = await Promise.all(kinds.map(() => openFailingUpstream()))
for (const upstream of upstreams) opened.defer(upstream.close)
const file = join(environment.directory, 'tollbook.yaml')
await writeFile(file, fileOf())
const config = readConfig({ ...environment.env, PRODUCTS_FILE: file, HANDLER_TIMEOUT_MS: '5000' })
assert(isServiceConfig(config), 'the service is configured')
const service = await createService(config, { log: silentLog })
opened.defer(() => service.close())
const baseUrl = `http://127.0.0.1:${service.port}`

function fileOf(): string {
  const entries = upstreams.map(
    ({ url }, index) => `  u${index}: { url: "${url}", timeout: 250ms, silence: 250ms, max_response: 8KiB }\n`,
  )
  const routes = kinds.map(({ path, sold }, index) => {
    const rule = sold === honestText ? '{ json: { pointer: /ok, equals: true } }' : '{ ends_with: "[DONE]" }'
    return `  - { path: ${path}, summary: Kind ${index}, upstream: u${index}, to: /, price: { usd: "0.01" }, content_types: [application/json, text/csv], stream: passthrough, success: ${rule} }\n`
  })
  return `version: 1\nupstreams:\n${entries.join('')}routes:\n${routes.join('')}`
}

interface Answer {
  readonly status: number
  readonly code: string
  readonly text: string
  readonly isWhole: boolean
}

const errorShape = z.looseObject({ code: z.string() })

async function ask(path: string, proof?: string): Promise<Answer> {
  const headers = { 'x-wallet-address': payer.address, ...(proof === undefined ? {} : { 'x-payment-proof': proof }) }
  const response = await fetch(baseUrl + path, { headers })
  const text = await response.text().catch(() => undefined)
  const parsed = text?.startsWith('{') === true ? errorShape.safeParse(JSON.parse(text)) : undefined
  return { status: response.status, code: parsed?.data?.code ?? '', text: text ?? '', isWhole: text !== undefined }
}

const waitsMax = 600
const waitMs = 200

/** Repeats a request that is refused for a moment: an upstream pauses, or the start is busy. */
async function askUntilOpen(path: string, proof?: string): Promise<Answer> {
  for (let tries = 1; ; tries++) {
    const answer = await ask(path, proof)
    if (answer.status !== 503 || tries === waitsMax) return answer
    await systemClock.sleep(waitMs)
  }
}

async function pay(path: string): Promise<string> {
  const offer = await askUntilOpen(path)
  assert(offer.status === 402, `${path} has a price (${offer.status} ${offer.text.slice(0, 200)})`)
  return payer.pay(quoteBody.parse(JSON.parse(offer.text)))
}

const wrong: string[] = []
let failures = 0
let sales = 0
// Five failures in a row close an upstream, and a payment has ten attempts.
const attemptsOfPayment = 4

/** The short time limit of the routes can pass on a busy machine, and the proof is still valid then. */
async function buyWithin(path: string, proof: string): Promise<Answer> {
  for (let tries = 1; ; tries++) {
    const answer = await askUntilOpen(path, proof)
    if (answer.status !== 504 || tries === attemptsOfPayment) return answer
  }
}

async function proveKind(kind: Kind, index: number, wanted: number): Promise<void> {
  const upstream = upstreams[index]
  assert(upstream !== undefined, 'each kind has an upstream')
  let failed = 0
  while (failed < wanted) {
    const proof = await pay(kind.path)
    upstream.answer(kind.fails)
    for (let attempt = 1; attempt <= attemptsOfPayment && failed < wanted; attempt++) {
      const answer = await askUntilOpen(kind.path, proof)
      if (answer.status === 200 && answer.isWhole) wrong.push(`${kind.name}: sold: ${answer.text.slice(0, 80)}`)
      else if (![200, 404, 502, 504].includes(answer.status))
        wrong.push(`${kind.name}: ${answer.status} ${answer.code}`)
      failed++
      failures++
    }
    upstream.answer(kind.answers)
    const bought = await buyWithin(kind.path, proof)
    sales++
    if (bought.status !== 200 || !bought.text.startsWith(kind.sold))
      wrong.push(`${kind.name}: the proof did not buy: ${bought.status} ${bought.code}`)
  }
}

const each = Math.ceil(options.failures / kinds.length)
const waiting = kinds.map((kind, index) => ({ kind, index, wanted: kind.isPausing ? Math.min(each, 2) : each }))
const lanes = Array.from({ length: options.lanes }, async () => {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    await proveKind(next.kind, next.index, next.wanted)
    say(`${next.kind.name}: ${next.wanted} failures`)
  }
})
await Promise.all(lanes)

// One upstream is hostile while an honest route is sold.
const [honestKind] = kinds
const victim = honestKind?.path ?? ''
const victims = 20
async function timedSales(): Promise<number> {
  const times: number[] = []
  for (let sale = 0; sale < victims; sale++) {
    const proof = await pay(victim)
    const startedAtMs = systemClock.monotonicMs()
    const bought = await ask(victim, proof)
    times.push(systemClock.monotonicMs() - startedAtMs)
    sales++
    if (bought.status !== 200) wrong.push(`an honest route: ${bought.status} ${bought.code}`)
  }
  return times.toSorted((a, b) => a - b)[victims / 2] ?? 0
}
const aloneMs = await timedSales()
const hostile = ['an endless answer', 'endless headers', 'endless interim answers', 'a body that drips']
const over = new AbortController()
const attacks = hostile.map(async (name) => {
  const index = kinds.findIndex((kind) => kind.name === name)
  const { path, fails } = kinds[index] ?? { path: '', fails: honest }
  const proof = await pay(path)
  upstreams[index]?.answer(fails)
  while (!over.signal.aborted) if ((await ask(path, proof)).status === 402) return
})
const besideMs = await timedSales()
over.abort()
await Promise.all(attacks)

const ledger = await readProofLedger(database.adminUrl)
if (ledger.fulfilled !== sales) wrong.push(`${ledger.fulfilled} deliveries for ${sales} sales`)
const findings = await ledgerFindings(database.adminUrl)
wrong.push(...findings.map(({ code, message }) => `audit: ${code}: ${message}`))
concludeProof({
  holds: wrong.length === 0,
  lines: [
    `${failures} failures of ${kinds.length} kinds, ${sales} sales, ${ledger.fulfilled} deliveries in the ledger`,
    `an honest sale takes ${(besideMs / aloneMs).toFixed(2)} times as long (p50) while four upstreams are hostile`,
    `${findings.length} findings of the audit`,
    ...wrong.slice(0, 20),
  ],
})
