import '@tollbook/core/quietBindings'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { askWallet } from '@tollbook/agent/client/socketRequest'
import { connectWallet } from '@tollbook/agent/client/walletClient'
import { readOrMakeProxyKey, walletFolder } from '@tollbook/agent/walletFolder'
import { openPaymentFolder, readBalance } from '@tollbook/client/node'
import { systemClock } from '@tollbook/core/clock'
import { buyUntilAnswered, type Buyer, killPid, openProxyBuyer, openWindowBuyer } from './agent/buyers.ts'
import { proofCommand, wholeNumber } from './proofCommand.ts'
import { openEnvironment } from './proofEnvironment.ts'
import { readProofLedger } from './proofLedger.ts'
import { spawnServer } from './spawnServer.ts'
import { concludeProof, say } from './verdict.ts'

/*
 * Three windows of an MCP host and a proxy share one wallet folder. They buy until the limit of the day is used up,
 * while the wallet process and the front ends are killed with kill -9. The limit must be exact to the base unit, each
 * order is paid and served once, and no payment stays unresolved. A kill between the journal and the file of a payment
 * counts a payment that never left: the limit then allows one order less.
 */

const { purchases, everyMs } = proofCommand(
  'agent',
  'Killed wallets and front ends pay once and stay within the limit.',
)
  .option('--purchases <n>', 'purchases that the limit of the day allows', wholeNumber, 1_000)
  .option('--every-ms <n>', 'pause between two kills', wholeNumber, 4_000)
  .parse()
  .opts<{ purchases: number; everyMs: number }>()

await using environment = await openEnvironment()
await using opened = new AsyncDisposableStack()
const { chain, demoWallet, database, directory, env } = environment
const runsFile = join(directory, 'runs')
await writeFile(runsFile, '')
const server = await spawnServer({ env, runsFile })
opened.defer(() => server.stop())

const mint = env['TOKEN_MINT'] ?? ''
const priceBaseUnits = 20_000_000n
const limitBaseUnits = priceBaseUnits * BigInt(purchases)
const folder = walletFolder(join(directory, 'wallet'))
await mkdir(folder.path, { mode: 0o700 })
await writeFile(folder.key, JSON.stringify([...demoWallet.secretKey]), { mode: 0o600 })
const policy = {
  rpcUrl: chain.rpcUrl,
  hosts: { [new URL(server.baseUrl).host]: {} },
  mints: { [mint]: { name: 'TOLL', usdPerToken: '0.001', perDayBaseUnits: limitBaseUnits.toString() } },
  limits: { perRequestUsd: '0.02', perDayUsd: '1000' },
}
await writeFile(folder.policy, JSON.stringify(policy), { mode: 0o600 })

const question = { rpcUrl: chain.rpcUrl, wallet: demoWallet.publicKey.toBase58(), mint }
const { heldBaseUnits: heldBefore } = await readBalance(question)
const buyers = [
  ...(await Promise.all([1, 2, 3].map((number) => openWindowBuyer(`window ${number}`, folder.path)))),
  await openProxyBuyer(folder.path, () => readOrMakeProxyKey(folder)),
]
say(`${buyers.length} front ends, a limit of ${purchases} purchases, a kill every ${everyMs} ms`)

let next = 0
const over = new AbortController()
const answered = new Set<string>()
const refused = new Map<string, number>()
const ordersMax = purchases + 4

/** Buys order after order, two at a time from each front end. */
async function buyOrders(buyer: Buyer): Promise<void> {
  while (next < ordersMax) {
    const symbol = `S${next++}`
    const bought = await buyUntilAnswered(buyer, `${server.baseUrl}/api/data/crypto?symbol=${symbol}`)
    if (bought.kind === 'refused') refused.set(bought.code, (refused.get(bought.code) ?? 0) + 1)
    else if (bought.body.includes(`"symbol":"${symbol}"`)) answered.add(symbol)
    if (answered.size % 100 === 0 && bought.kind === 'answered') say(`${answered.size} answered`)
  }
}

const killed = { wallet: 0, 'front end': 0 }

/** Kills the wallet and a front end in turn, and starts a killed front end again as its host would. */
async function killNow(turn: number): Promise<void> {
  if (turn % 2 === 0) {
    killPid((await askWallet(folder.socket))?.pid)
    killed.wallet++
    return
  }
  const buyer = buyers[((turn - 1) / 2) % buyers.length]
  buyer?.kill()
  killed['front end']++
  await buyer?.restart()
}

async function killAll(): Promise<void> {
  for (let turn = 0; ; turn++) {
    await systemClock.sleep(everyMs, over.signal).catch(() => undefined)
    if (over.signal.aborted) return
    await killNow(turn)
  }
}

const killing = killAll()
await Promise.all(buyers.flatMap((buyer) => [buyOrders(buyer), buyOrders(buyer)]))
over.abort()
await killing

// An open payment of an answer that its front end had confirmed no more: retry finishes it and pays nothing.
const wallet = connectWallet(folder, systemClock)
const openList = z.object({ open: z.array(z.object({ signature: z.string() })) })
const { open: left } = openList.parse(await wallet.read('/open'))
for (const { signature } of left) {
  const { payment } = await wallet.retry(signature)
  if (payment !== undefined) await wallet.received(payment)
}
const store = openPaymentFolder(folder.payments)
const spent = await store.spending()
const spentBaseUnits = spent.reduce((sum, { baseUnits }) => sum + baseUnits, 0n)
const unresolved = (await store.pending()).length
for (const buyer of buyers) await buyer.close()
killPid((await askWallet(folder.socket))?.pid)

const runs = (await readFile(runsFile, 'utf8')).trim().split('\n')
const movedBaseUnits = heldBefore - (await readBalance(question)).heldBaseUnits
const { fulfilled, payments, unbalanced, gaps } = await readProofLedger(database.adminUrl)
const distinct = new Set(runs).size
const neverLeft = spent.length - answered.size

concludeProof({
  holds:
    spent.length === purchases &&
    spentBaseUnits === limitBaseUnits &&
    neverLeft >= 0 &&
    neverLeft <= killed.wallet &&
    movedBaseUnits === priceBaseUnits * BigInt(answered.size) &&
    unresolved === 0 &&
    [runs.length, distinct, fulfilled, payments].every((count) => count === answered.size) &&
    [...refused.keys()].every((code) => code === 'LIMIT_REACHED') &&
    refused.get('LIMIT_REACHED') === ordersMax - answered.size &&
    unbalanced === 0 &&
    gaps === 0,
  lines: [
    `${killed.wallet} wallets and ${killed['front end']} front ends killed; ${left.length} open payments finished at the end`,
    `${answered.size} orders answered, ${spent.length} payments signed, ${payments} in the ledger, ${fulfilled} answers, ${neverLeft} counted that never left`,
    `${spentBaseUnits} of ${limitBaseUnits} base units counted, ${movedBaseUnits} moved on chain`,
    `${unresolved} unresolved; ${runs.length} runs of the handler for ${distinct} orders`,
    `refused: ${JSON.stringify(Object.fromEntries(refused))}`,
  ],
})
