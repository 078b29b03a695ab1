import '@tollbook/core/quietBindings'
import { Connection, PublicKey } from '@solana/web3.js'
import { Option } from 'commander'
import pg from 'pg'
import { z } from 'zod'
import { audit } from '@tollbook/audit'
import { assert } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { createService } from '../../src/compose.ts'
import { isServiceConfig, readConfig } from '../../src/config.ts'
import { silentLog } from '../../src/machine/log.ts'
import { openProofSigner } from './proofSigner.ts'
import { type Counter, buy, qrOrder } from '../support/ask.ts'
import { stockFetch } from '../support/x402Service.ts'
import { type BurnDeath, burnDeaths } from './burn/burnDeath.ts'
import { openDelegate, runBurnJob } from './burn/runBurnJob.ts'
import { proofCommand, wholeNumber } from './proofCommand.ts'
import { openEnvironment, type ProofEnvironment } from './proofEnvironment.ts'
import { concludeProof, say } from './verdict.ts'

/*
 * The stock client of x402 and the native client buy while the burn job is killed at each of its steps. At the end the
 * supply on chain has fallen by exactly what the burn statistics call confirmed, each owed burn was made once, and the
 * audit agrees.
 */

interface Options {
  readonly runs: number
  readonly step?: BurnDeath
}

const command = proofCommand('burn', 'Owed burns are made once each, although the burn job is killed at every step.')
const { runs, step } = command
  .option('--runs <n>', 'kills at each step', wholeNumber, 2)
  .addOption(new Option('--step <step>', 'kills at this step only').choices(burnDeaths))
  .parse()
  .opts<Options>()
const steps = burnDeaths.filter((death) => step === undefined || death === step)

await using opened = new AsyncDisposableStack()
const environment = opened.use(await openEnvironment())
const { chain, env, database, demoWallet } = environment
const mint = new PublicKey(env['TOKEN_MINT'] ?? '')
const connection = new Connection(chain.rpcUrl, { commitment: 'confirmed', wsEndpoint: chain.wsUrl })
const supply = async () => BigInt((await connection.getTokenSupply(mint, 'processed')).value.amount)
const supplyBefore = await supply()
const service = await openSales(environment)
const burnEnv = await openDelegate(environment, connection)
const payingFetch = await stockFetch(demoWallet, { rpcUrl: chain.rpcUrl, asset: mint.toBase58() })

/** The service with both rails and its signer. */
async function openSales({ payer }: ProofEnvironment): Promise<Counter> {
  const signer = opened.use(await openProofSigner(environment))
  const config = readConfig({ ...env, ...signer.env, NEWS_POLLING: '0' })
  assert(isServiceConfig(config), 'the service is configured')
  const running = await createService(config, { log: silentLog })
  opened.defer(() => running.close())
  return { baseUrl: `http://127.0.0.1:${running.port}`, payer }
}

async function query(text: string): Promise<readonly object[]> {
  const client = new pg.Client({ connectionString: database.adminUrl })
  await client.connect()
  try {
    return (await client.query<object>(text)).rows
  } finally {
    await client.end()
  }
}

async function buyByX402(): Promise<void> {
  const response = await payingFetch(`${service.baseUrl}/x402${qrOrder.path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(qrOrder.body),
  })
  assert(response.status === 200, `an answer is sold by x402, not ${response.status}`)
}

const kills = new Map<BurnDeath, number>()
for (let run = 1; run <= runs; run++) {
  for (const death of steps) {
    await buyByX402()
    const { signal } = await runBurnJob(burnEnv, death)
    if (signal === 'SIGKILL') kills.set(death, (kills.get(death) ?? 0) + 1)
  }
  await buy(service)
  say(`killed ${run} times at each of ${steps.length} steps`)
}

// Until everything is final, and nothing is owed.
const wrong: string[] = []
const patience = 60
for (let run = 1; run <= patience; run++) {
  const { said } = await runBurnJob(burnEnv)
  const owed = await readStats()
  if (said === 'nothing_owed' && owed.owed.baseUnits === '0') break
  if (run === patience) wrong.push(`${owed.owed.baseUnits} base units are owed still: the job says ${said}`)
}

async function readStats() {
  const amount = z.object({ baseUnits: z.string() })
  const stats = z.object({
    total: amount,
    confirmed: amount.extend({ insidePayments: amount, inRounds: amount }),
    owed: amount,
  })
  // One reading is shown for a second.
  await systemClock.sleep(1_100)
  const response = await fetch(`${service.baseUrl}/api/token/burn-stats`)
  return z.object({ data: stats }).parse(await response.json()).data
}

// The chain is final 32 slots later.
await systemClock.sleep(5_000)
const stats = await readStats()
const fell = supplyBefore - (await supply())
const [sums] = z.array(z.object({ owed: z.string(), rounds: z.string(), failed: z.string() })).parse(
  await query(`select
      coalesce(sum((convert_from(body, 'UTF8')::jsonb ->> 'owedBaseUnits')::numeric), 0)::text as owed,
      count(*) filter (where kind = 'BurnConfirmed')::text as rounds, count(*) filter (where kind = 'BurnFailed')::text as failed
      from ledger.events where kind in ('BurnOwed', 'BurnConfirmed', 'BurnFailed')`),
)
const owedInAll = sums?.owed ?? '0'
if (fell !== BigInt(stats.confirmed.baseUnits))
  wrong.push(`the supply fell by ${fell}, and ${stats.confirmed.baseUnits} are called confirmed`)
if (stats.confirmed.inRounds.baseUnits !== owedInAll)
  wrong.push(`${owedInAll} were owed in all, and ${stats.confirmed.inRounds.baseUnits} were burned in rounds`)
for (const death of steps)
  if (kills.get(death) !== runs) wrong.push(`the job was killed ${kills.get(death) ?? 0} times ${death}`)

const { findings, verdicts } = await audit({
  source: { kind: 'database', url: database.adminUrl },
  verifierKeys: [],
  ownCheckpoints: [],
  transactions: true,
  chain: { rpcUrl: chain.rpcUrl, paymentWallet: env['PAYMENT_WALLET'], fetch, recordedWithinMs: 0 },
  resumeFile: undefined,
  clock: systemClock,
})
wrong.push(...findings.map(({ code, message }) => `audit: ${code}: ${message}`))
const inside = stats.confirmed.insidePayments.baseUnits
concludeProof({
  holds: wrong.length === 0,
  lines: [
    `${runs * steps.length} kills, ${sums?.rounds} rounds confirmed, ${sums?.failed} failed`,
    `supply fell by ${fell}; confirmed ${stats.confirmed.baseUnits} = ${inside} inside payments + ${stats.confirmed.inRounds.baseUnits} in rounds; owed ${stats.owed.baseUnits}`,
    `audit against the chain: ${verdicts.chainTruth.status}, ${findings.length} findings`,
    ...wrong.slice(0, 20),
  ],
})
