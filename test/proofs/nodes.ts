import '@tollbook/core/quietBindings'
import { readFile, writeFile } from 'node:fs/promises'
import pg from 'pg'
import { assertPresent } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { askQuote } from './present.ts'
import { openEnvironment } from './proofEnvironment.ts'
import { proofCommand, wholeNumber } from './proofCommand.ts'
import { type ChainControl, controlChain } from './nodes/chainControl.ts'
import { type NodeFault, nodeFaults } from './nodes/fault.ts'
import {
  type Honesty,
  type PaymentEnd,
  type MatrixPayment,
  pay,
  presentUntilFinal,
  quotePlan,
  proofForms,
  tellsToPayAgain,
} from './nodes/matrixPayment.ts'
import { type SpawnedServer, spawnServer } from './spawnServer.ts'
import { concludeProof, say } from './verdict.ts'

/*
 * Nodes that lag, stand still, fork, deny, lie, belong to another network or fail never cost a payer money: the faults
 * of one node × one or two configured nodes × three forms of proof, over HTTP with the service as a process. Callers
 * present one proof until they are answered for good. A third of the presentations are in progress when the fault
 * begins.
 */

interface Options {
  readonly payments: number
  readonly faultSeconds: number
  readonly recoverySeconds: number
  readonly faults?: string
}

const command = proofCommand('nodes', 'Misbehaving Solana nodes never cost a payer money.')
  .option('--payments <n>', 'payments of each fault, number of nodes and form', wholeNumber, 6)
  .option('--fault-seconds <n>', 'duration of each fault; a blockhash is valid for 6 s', wholeNumber, 8)
  .option('--recovery-seconds <n>', 'wait for answers after each fault', wholeNumber, 90)
  .option('--faults <names>', 'only these faults, separated by commas')
const options = command.parse().opts<Options>()

const faultyNode = 0
/** Dishonest payments are not waited for: any answer but a sale is right. */
const dishonestMsMax = 3_000

await using environment = await openEnvironment({ nodes: [{}, {}, {}] })
const { payer, chain: spawned } = environment
const [faultyUrl = '', otherUrl = '', witnessUrl = ''] = spawned.rpcUrls
const chain = controlChain(witnessUrl)
const runsFile = `${environment.directory}/runs`
await writeFile(runsFile, '')
const limits = JSON.stringify({ sale: { proofLookupWaitMs: 600 }, nodes: { stillMs: 2_000 } })
const settings = { ...environment.env, SERVER_LIMITS: limits }
const one = { SOLANA_RPC_URLS: faultyUrl }
const two = { SOLANA_RPC_URLS: `${faultyUrl},${otherUrl}` }
const servers = new Map<string, SpawnedServer>()
for (const [name, env] of Object.entries({
  '1 node': one,
  '2 nodes': two,
  '2 nodes, both asked': { ...two, SOLANA_QUORUM_ABOVE_USD: '0' },
})) {
  servers.set(name, await spawnServer({ env: { ...settings, ...env }, runsFile }))
}

const faults = await chooseFaults(options.faults)
const perCell = options.payments * proofForms.length
say(`${faults.length} faults of one node, 1 or 2 nodes configured, ${perCell} payments each`)
const rows: Row[] = []
const wrong: string[] = []
let serial = 0
let lostToFork = 0
for (const fault of faults) {
  for (const [nodes, server] of servers) {
    const isApplied = fault.onlyWith === undefined ? nodes !== '2 nodes, both asked' : nodes === fault.onlyWith
    if (!isApplied) continue
    const row = await runCell({ fault, nodes, server, chain })
    rows.push(row)
    say(describeRow(row))
  }
}
await Promise.all([...servers.values()].map((server) => server.stop()))
await conclude(rows)

interface Cell {
  readonly fault: NodeFault
  readonly nodes: string
  readonly server: SpawnedServer
  readonly chain: ChainControl
}

interface Row {
  readonly name: string
  readonly ends: readonly PaymentEnd[]
}

/**
 * A third of the payments is signed before the fault, and their first presentation meets its beginning. The others are
 * signed and presented during the fault. All prices are from before it.
 */
async function runCell({ fault, nodes, server, chain }: Cell): Promise<Row> {
  const { baseUrl } = server
  let isFaulty = false
  let deadlineMs = Infinity
  const plans = proofForms.flatMap((form) =>
    Array.from({ length: options.payments }, (_, nth) => ({ form, honesty: honestyOf(nth) })),
  )
  const liar =
    fault.behaviour.claimSends === true ? { handToLiar: (bytes: Uint8Array) => chain.sendTo(faultyUrl, bytes) } : {}
  const quoted = await Promise.all(
    plans.map(({ form, honesty }) => quotePlan({ form, honesty, baseUrl, payer, symbol: `N${serial++}` })),
  )
  const pursue = (payment: MatrixPayment): Promise<PaymentEnd> => {
    const deadline = (): number =>
      deadlineMs + (payment.honesty === 'honest' ? options.recoverySeconds * 1_000 : dishonestMsMax)
    const persistence = { baseUrl, wallet: payer.address, chain, isFaulty: () => isFaulty, deadlineMs: deadline }
    return presentUntilFinal(payment, persistence)
  }
  const early = (await Promise.all(quoted.filter((_, index) => index % 3 === 0).map(pay))).map(pursue)
  await chain.setNode(faultyNode, fault.behaviour)
  isFaulty = true
  const late = quoted.filter((_, index) => index % 3 !== 0).map(async (plan) => pursue(await pay({ ...plan, ...liar })))
  await systemClock.sleep(options.faultSeconds * 1_000)
  await chain.setNode(faultyNode, {})
  isFaulty = false
  deadlineMs = systemClock.monotonicMs()
  return { name: `${fault.name}, ${nodes}`, ends: await Promise.all([...early, ...late]) }
}

/** Of six payments four are honest, one is never sent and one is too small. */
function honestyOf(nth: number): Honesty {
  if (nth % 6 === 4) return 'unsent'
  return nth % 6 === 5 ? 'short' : 'honest'
}

/** The template of made-up records is a payment of this wallet for this product, used before the first fault. */
async function chooseFaults(names: string | undefined): Promise<readonly NodeFault[]> {
  const { baseUrl } = assertPresent(servers.get('1 node'), 'the server with one node runs')
  const template = await payer.sign(await askQuote({ baseUrl, wallet: payer.address, symbol: 'TEMPLATE' }))
  await payer.send(template)
  const all = nodeFaults(template.signature)
  const chosen = names?.split(',')
  return chosen === undefined ? all : all.filter(({ name }) => chosen.includes(name))
}

function describeRow({ name, ends }: Row): string {
  const sold = ends.filter(({ answer }) => answer.status === 200)
  const refused = ends.filter(({ answer }) => tellsToPayAgain(answer))
  const columns = [
    name.padEnd(34),
    `${ends.length} payments`,
    `${sold.filter(({ duringFault }) => duringFault).length} sold during the fault`,
    `${sold.filter(({ duringFault }) => !duringFault).length} after it`,
    `${refused.length} final 402`,
    `${refused.filter(({ falseVerdict }) => falseVerdict !== undefined).length} of them false`,
    `${ends.length - sold.length - refused.length} open`,
  ]
  return columns.join(', ')
}

/** Compares each end with the chain as it is at the end. */
async function judge({ name, ends }: Row): Promise<void> {
  for (const { payment, answer, falseVerdict } of ends) {
    const { form, honesty, signature, symbol } = payment
    const said = `${answer.status} ${answer.reason ?? answer.code ?? ''}`
    const what = `${name}: ${honesty} ${form} ${symbol}, ${said}`
    const landed = await chain.landed(signature)
    if (falseVerdict !== undefined) wrong.push(`${what}: told to pay again, but ${falseVerdict}`)
    else if (tellsToPayAgain(answer) && honesty === 'honest' && landed !== undefined) {
      wrong.push(`${what}: told to pay again, and it landed later`)
    }
    if (answer.status === 200 && honesty !== 'honest') wrong.push(`${what}: sold without a payment`)
    if (answer.status === 200 && landed?.hasFailed !== false) {
      // A service that serves at `confirmed` believes a fork that confirms (decision 0011); the ledger reverses these.
      if (name.startsWith('fork')) lostToFork += 1
      else wrong.push(`${what}: sold, but it is not on chain`)
    }
    if (honesty === 'honest' && answer.status !== 200 && !tellsToPayAgain(answer)) {
      wrong.push(`${what}: not answered for good ${options.recoverySeconds} s after the fault`)
    }
  }
}

async function conclude(rows: readonly Row[]): Promise<void> {
  for (const row of rows) await judge(row)
  const ends = rows.flatMap((row) => row.ends)
  const sold = ends.filter(({ answer }) => answer.status === 200).length
  const runs = (await readFile(runsFile, 'utf8')).split('\n').filter((line) => line !== '').length
  const fulfilled = await countFulfilled()
  if (runs !== sold || fulfilled !== sold) {
    wrong.push(`${sold} payments were answered, but ${runs} handlers ran and ${fulfilled} RequestFulfilled`)
  }
  const reasons = new Map<string, number>()
  for (const { answer } of ends) {
    const said = `${answer.status} ${answer.reason ?? answer.code ?? ''}`.trim()
    reasons.set(said, (reasons.get(said) ?? 0) + 1)
  }
  const presentations = ends.reduce((sum, end) => sum + end.presentations, 0)
  concludeProof({
    holds: wrong.length === 0,
    lines: [
      ...rows.map(describeRow),
      `${ends.length} payments, ${presentations} presentations, ${fulfilled} RequestFulfilled, ${runs} handler runs`,
      `last answers: ${[...reasons].map(([said, count]) => `${said}: ${count}`).join(', ')}`,
      `${lostToFork} sold at "confirmed" on the fork and not on chain afterwards`,
      `${wrong.length} wrong`,
      ...wrong.slice(0, 40),
    ],
  })
}

async function countFulfilled(): Promise<number> {
  const client = new pg.Client({ connectionString: environment.database.adminUrl })
  await client.connect()
  const { rows: found } = await client.query<{ count: number }>(
    `select count(*)::int as count from ledger.events where kind = 'RequestFulfilled'`,
  )
  await client.end()
  return found[0]?.count ?? 0
}
