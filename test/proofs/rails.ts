import '@tollbook/core/quietBindings'
import { VersionedTransaction } from '@solana/web3.js'
import { readFile, writeFile } from 'node:fs/promises'
import { z } from 'zod'
import { encodeBase58 } from '@tollbook/core/base58'
import { assertPresent } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { openProofSigner } from './proofSigner.ts'
import { type EveryRail, signForEveryRail } from '../support/mppClient.ts'
import { callTool, toolPayments } from './callTool.ts'
import { proofCommand, wholeNumber } from './proofCommand.ts'
import { openEnvironment } from './proofEnvironment.ts'
import { readProofLedger } from './proofLedger.ts'
import { spawnServer } from './spawnServer.ts'
import { concludeProof, say } from './verdict.ts'

/*
 * One payment buys one answer, whichever rails bring it (I1): four server processes on one ledger and one chain, each
 * payment presented in 64 requests at once as a payment of MPP, of x402 and of the native rail, on both paths, in one
 * header and in two, and as a payment of x402 and MPP in calls of the tool.
 */

const options = proofCommand('rails', 'One payment presented by three rails at once is served once.')
  .option('--payments <n>', 'payments that are raced', wholeNumber, 40)
  .option('--requests <n>', 'requests at once for each payment', wholeNumber, 64)
  .option('--servers <n>', 'server processes', wholeNumber, 4)
  .parse()
const {
  payments,
  requests,
  servers: serverCount,
} = options.opts<{ payments: number; requests: number; servers: number }>()

await using environment = await openEnvironment()
await using opened = new AsyncDisposableStack()
const { chain, demoWallet, directory, env, payer } = environment
const { feePayer, env: signerEnv } = opened.use(await openProofSigner(environment))
const runsFile = `${directory}/runs`
await writeFile(runsFile, '')
const serverEnv = { ...env, ...signerEnv }
const servers = await Promise.all(Array.from({ length: serverCount }, () => spawnServer({ env: serverEnv, runsFile })))
say(`${servers.length} servers, ${payments} payments, ${requests} requests at once for each`)

const tally = new Map<string, number>()
const wrong: string[] = []
const count = (answer: string): unknown => tally.set(answer, (tally.get(answer) ?? 0) + 1)

interface Way {
  readonly mount: string
  readonly headers: Readonly<Record<string, string>>
  /** Present if the payment is in `_meta` of a call of the tool. */
  readonly meta?: Readonly<Record<string, unknown>>
}

/** Every way to present one payment. The native rail gets it completed, as an observer of the chain would have it. */
function waysOf({ transaction, secret, headers }: EveryRail): readonly Way[] {
  const { mpp, x402 } = headers
  const completed = VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'))
  completed.sign([feePayer])
  const proofs = [
    { transaction: Buffer.from(completed.serialize()).toString('base64'), secret },
    { signature: encodeBase58(completed.signatures[0] ?? new Uint8Array()), secret },
  ]
  const native = proofs.map((proof) => ({
    mount: '',
    headers: {
      'x-wallet-address': payer.address,
      'x-payment-proof': Buffer.from(JSON.stringify(proof)).toString('base64'),
    },
  }))
  const sponsored = ['', '/x402'].flatMap((mount) =>
    [mpp, x402, { ...mpp, ...x402 }].map((each) => ({ mount, headers: each })),
  )
  return [...sponsored, ...native, ...toolPayments(headers).map((meta) => ({ mount: '', headers: {}, meta }))]
}

const answerShape = z.object({
  code: z.string().optional(),
  reason: z.string().optional(),
  error: z.string().optional(),
  data: z.unknown().optional(),
})
const pendingTriesMax = 100

interface Target {
  readonly baseUrl: string
  readonly symbol: string
}

async function present(target: Target, way: Way) {
  for (let tries = 1; ; tries++) {
    const { status, isReplay, code, reason, error, data } = await ask(target, way)
    if (code !== 'PAYMENT_PENDING' || tries === pendingTriesMax) {
      const over = way.meta === undefined ? '' : 'MCP '
      count(`${over}${status} ${isReplay ? 'stored answer' : (reason ?? code ?? '')}`)
      return { status, code, reason, error, isReplay, data: JSON.stringify(data) }
    }
    count('(503 PAYMENT_PENDING, repeated)')
    await systemClock.sleep(100)
  }
}

async function ask({ baseUrl, symbol }: Target, { mount, headers, meta }: Way) {
  if (meta !== undefined) return callTool(baseUrl, { name: 'data_crypto', arguments: { symbol }, meta })
  const response = await fetch(`${baseUrl}${mount}/api/data/crypto?symbol=${symbol}`, { headers })
  const isReplay = response.headers.has('idempotent-replay')
  return { status: response.status, isReplay, ...answerShape.parse(await response.json()) }
}

async function race(index: number): Promise<void> {
  const symbol = `P${index}`
  const targetOf = (nth: number) => ({
    symbol,
    baseUrl: assertPresent(servers[nth % servers.length], 'there is a server').baseUrl,
  })
  const offerUrl = `${targetOf(index).baseUrl}/api/data/crypto?symbol=${symbol}`
  const offer = await fetch(offerUrl, { headers: { 'accept-payment': 'solana/charge' } })
  const ways = waysOf(await signForEveryRail(demoWallet, chain.rpcUrl, offer))
  const answers = await Promise.all(
    Array.from({ length: requests }, (_, nth) => {
      const way = assertPresent(ways[(index + nth) % ways.length], 'there are eleven ways')
      return present(targetOf(Math.floor(nth / ways.length)), way)
    }),
  )
  const served = answers.filter(({ status }) => status === 200)
  // Another instance may send the same answer again until it knows that the answer was sent.
  const sold = served.filter(({ isReplay }) => !isReplay).length
  if (new Set(served.map(({ data }) => data)).size > 1) wrong.push(`payment ${index} bought different answers`)
  if (sold !== 1) wrong.push(`payment ${index} bought ${sold} answers`)
  // A rail that cannot read the payment takes no part in the race.
  const unread = answers.find(({ reason }) => reason?.startsWith('malformed_'))
  if (unread !== undefined) wrong.push(`payment ${index}: a rail could not read it: ${unread.reason}`)
  const other = answers.find(({ status }) => ![200, 402, 409].includes(status))
  if (other !== undefined)
    wrong.push(`payment ${index}: a loser was answered ${other.status} ${other.code}: ${other.error}`)
}

for (let index = 0; index < payments; index++) {
  await race(index)
  if ((index + 1) % 10 === 0) say(`${index + 1} of ${payments} payments raced`)
}
const runs = (await readFile(runsFile, 'utf8')).split('\n').filter((line) => line !== '')
const { fulfilled } = await readProofLedger(environment.database.adminUrl)
await Promise.all(servers.map((server) => server.stop()))
if (runs.length !== payments || new Set(runs).size !== payments)
  wrong.push(`${runs.length} handler runs for ${payments} payments`)
if (fulfilled !== payments) wrong.push(`${fulfilled} RequestFulfilled for ${payments} payments`)
const answers = [...tally].map(([answer, times]) => `${answer}: ${times}`).toSorted()
concludeProof({
  holds: wrong.length === 0,
  lines: [
    `${runs.length} handler runs, ${fulfilled} RequestFulfilled, answers: ${answers.join(', ')}`,
    ...wrong.slice(0, 20),
  ],
})
