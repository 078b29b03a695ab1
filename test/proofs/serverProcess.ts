import '@tollbook/core/quietBindings'
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { z } from 'zod'
import { createService } from '../../src/compose.ts'
import { isServiceConfig, readConfig } from '../../src/config.ts'
import type { Endpoint } from '../../src/product/endpoint.ts'
import type { Outcome } from '../../src/product/product.ts'
import { createLog } from '../../src/machine/log.ts'
import { openTestEndpoint } from '../support/testProduct.ts'
import { createCrasher, crashSteps } from './crashStep.ts'

/*
 * One real server as a process, for the proofs: `node serverProcess.ts RUNS_FILE`, configured by environment as
 * `tollbook serve`, with other limits in SERVER_LIMITS. Its `/api/data/crypto` appends a line to RUNS_FILE each time
 * its handler runs; several processes share the file. A line on stdin arms a crash at that step, holds the handlers and
 * lets them go, or asks for the memory; the end of stdin ends the process.
 */

const [runsFile = ''] = process.argv.slice(2)
const crasher = createCrasher()

const counted = openTestEndpoint({
  path: '/api/data/crypto',
  parameters: z.strictObject({ symbol: z.string() }),
  deliver: ({ symbol }) => crasher.handle(() => deliver(symbol)),
})

let held: PromiseWithResolvers<undefined> | undefined

async function deliver(symbol: string): Promise<Outcome> {
  // One write call of a short line with O_APPEND is not torn by another process's.
  appendFileSync(runsFile, `${symbol}\n`)
  await held?.promise
  const data = { symbol, servedBy: process.pid }
  return {
    kind: 'delivered',
    data,
    meta: { source: 'proof', asOf: '2026-11-21T00:00:00.000Z', cached: false },
  }
}

const limit = z.record(z.string(), z.number()).default({})
const jobs = z.object({ settleAgeMs: z.int().exactOptional(), pegNetwork: z.string().exactOptional() }).default({})
const limits = z.object({ sale: limit, nodes: limit, jobs }).parse(JSON.parse(process.env['SERVER_LIMITS'] ?? '{}'))
const config = readConfig()
if (!isServiceConfig(config)) throw new Error('not configured')
const service = await createService(
  { ...config, sale: { ...config.sale, ...limits.sale } },
  {
    log: createLog({ level: config.logLevel, name: 'proof', destination: process.stderr }),
    seams: {
      nodes: limits.nodes,
      jobs: limits.jobs,
      ledger: (inner) => crasher.ledger(inner),
      endpoints: (inner: readonly Endpoint[]) => [counted, ...inner.filter(({ path }) => path !== counted.path)],
    },
  },
)
process.stdout.write(`${JSON.stringify({ port: service.port })}\n`)

const commands = createInterface({ input: process.stdin })
commands.on('line', (line) => {
  if (line === 'memory') return reportMemory()
  if (line === 'hold' || line === 'let go') {
    held?.resolve(undefined)
    held = line === 'hold' ? Promise.withResolvers<undefined>() : undefined
    return void process.stdout.write(`${JSON.stringify({ done: line })}\n`)
  }
  const step = crashSteps.find((candidate) => candidate === line)
  if (step !== undefined) crasher.arm(step)
  process.stdout.write(`${JSON.stringify({ armed: step ?? null })}\n`)
})
commands.on('close', () => void service.close().finally(() => process.exit()))

function reportMemory(): void {
  // Twice: what a finaliser lets go is collected by the second.
  for (let pass = 0; pass < 2; pass++) globalThis.gc?.()
  process.stdout.write(`${JSON.stringify({ residentBytes: process.memoryUsage.rss() })}\n`)
}
