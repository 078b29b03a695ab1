import { readFile, writeFile } from 'node:fs/promises'
import pg from 'pg'
import { systemClock } from '@tollbook/core/clock'
import { assertPresent } from '@tollbook/core/assert'
import { awaitQuote, present, type Presented } from './present.ts'
import { openEnvironment, type ProofEnvironment } from './proofEnvironment.ts'
import { proofCommand, wholeNumber } from './proofCommand.ts'
import { type SpawnedServer, spawnServer } from './spawnServer.ts'
import { families } from './spellings.ts'
import { concludeProof, say } from './verdict.ts'

/*
 * One payment buys one answer, over all instances, forms and spellings (I1, I26): four server processes on one ledger
 * and one chain, each payment presented in 64 requests at once, in every form and spelling that it has.
 */

const command = proofCommand(
  'race',
  'One payment buys one answer, over several server processes on one ledger and one chain.',
)
  .option('--proofs <n>', 'payments that are raced', wholeNumber, 200)
  .option('--requests <n>', 'requests at once for each payment', wholeNumber, 64)
  .option('--servers <n>', 'server processes', wholeNumber, 4)
const {
  proofs,
  requests,
  servers: serverCount,
} = command.parse().opts<{ proofs: number; requests: number; servers: number }>()
// Number of payments raced concurrently.
const atOnce = 4
const pendingTriesMax = 100

await using environment = await openEnvironment()
const runsFile = `${environment.directory}/runs`
await writeFile(runsFile, '')
const servers = await Promise.all(
  Array.from({ length: serverCount }, () => spawnServer({ env: environment.env, runsFile })),
)
say(`${servers.length} servers, ${proofs} payments, ${requests} requests at once for each`)

const tally = new Map<string, number>()
const wrong: string[] = []
for (let first = 0; first < proofs; first += atOnce) {
  const indexes = Array.from({ length: Math.min(atOnce, proofs - first) }, (_, offset) => first + offset)
  await Promise.all(indexes.map((index) => race(environment, servers, index)))
  const done = first + indexes.length
  if (done % 20 < atOnce) say(`${done} of ${proofs} payments raced`)
}
const runs = (await readFile(runsFile, 'utf8')).split('\n').filter((line) => line !== '')
const fulfilled = await countFulfilled(environment)
await Promise.all(servers.map((server) => server.stop()))

if (runs.length !== proofs || new Set(runs).size !== proofs)
  wrong.push(`${runs.length} handler runs for ${proofs} payments`)
if (fulfilled !== proofs) wrong.push(`${fulfilled} RequestFulfilled for ${proofs} payments`)
const answers = [...tally].map(([answer, count]) => `${answer}: ${count}`).toSorted()
concludeProof({
  holds: wrong.length === 0,
  lines: [
    `${runs.length} handler runs, ${fulfilled} RequestFulfilled, answers: ${answers.join(', ')}`,
    ...wrong.slice(0, 20),
  ],
})

async function race({ payer }: ProofEnvironment, servers: readonly SpawnedServer[], index: number): Promise<void> {
  const family = assertPresent(families[index % families.length], 'there are five families')
  const symbol = `P${index}`
  const baseUrls = servers.map(({ baseUrl }) => baseUrl)
  const request = (nth: number) => ({ baseUrl: baseUrls[nth % baseUrls.length] ?? '', wallet: payer.address, symbol })
  const payment = await payer.sign(await awaitQuote(request(index)), { bound: family.bound })
  if (family.landed) await payer.send(payment)
  const spellings = family.spell(payment)
  const presented = Array.from({ length: requests }, (_, nth) =>
    presentUntilDecided({ ...request(nth), proof: spellings[Math.floor(nth / serverCount) % spellings.length] ?? '' }),
  )
  const answers = await Promise.all(presented)
  for (const { status, code, reason, replayed } of answers)
    count(`${status} ${replayed ? 'stored answer' : (reason ?? code ?? '')}`)
  const served = answers.filter(({ status }) => status === 200)
  // Another instance may send the same answer again until it knows that the answer was sent.
  const sold = served.filter(({ replayed }) => !replayed).length
  if (new Set(served.map(({ data }) => data)).size > 1) wrong.push(`payment ${index} bought different answers`)
  if (sold !== 1) wrong.push(`payment ${index} (${family.name}) bought ${sold} answers`)
  const other = answers.find(({ status }) => ![200, 402, 409].includes(status))
  if (other !== undefined) wrong.push(`payment ${index}: a loser was answered ${other.status} ${other.code}`)
}

/** 503 PAYMENT_PENDING is the documented word for "being sent by another request: the same proof again". */
async function presentUntilDecided(request: Parameters<typeof present>[0]): Promise<Presented> {
  for (let attempt = 1; ; attempt++) {
    const answer = await present(request)
    if (answer.code !== 'PAYMENT_PENDING' || attempt === pendingTriesMax) return answer
    count('(503 PAYMENT_PENDING, repeated)')
    await systemClock.sleep(100)
  }
}

function count(answer: string): void {
  tally.set(answer, (tally.get(answer) ?? 0) + 1)
}

async function countFulfilled({ database }: ProofEnvironment): Promise<number> {
  const client = new pg.Client({ connectionString: database.adminUrl })
  await client.connect()
  const { rows } = await client.query<{ count: number }>(
    `select count(*)::int as count from ledger.events where kind = 'RequestFulfilled'`,
  )
  await client.end()
  return rows[0]?.count ?? 0
}
