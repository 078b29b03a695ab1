import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { askWallet } from '@tollbook/agent/client/socketRequest'
import { connectWallet } from '@tollbook/agent/client/walletClient'
import type { policyShape } from '@tollbook/agent/policy/policy'
import { readOrMakeProxyKey, walletFolder } from '@tollbook/agent/walletFolder'
import type { StoredSpending } from '@tollbook/client'
import { openPaymentFolder, readBalance } from '@tollbook/client/node'
import { systemClock } from '@tollbook/core/clock'
import type { ProofEnvironment } from '../proofEnvironment.ts'
import { spawnServer } from '../spawnServer.ts'
import { say } from '../verdict.ts'
import { buyUntilAnswered, type Buyer, killPid, openProxyBuyer, openWindowBuyer } from './buyers.ts'

export interface Spree {
  readonly environment: ProofEnvironment
  /** Of the server, besides those of the environment. */
  readonly env: Readonly<Record<string, string>>
  /** Orders that are tried, more than the limit permits. */
  readonly ordersMax: number
  readonly everyMs: number
  readonly limitBaseUnits: bigint
  readonly tabs: z.input<typeof policyShape>['tabs']
}

/** Counts of wallet, front ends and server at the end. */
export interface SpreeReport {
  readonly answered: number
  readonly refused: ReadonlyMap<string, number>
  readonly killed: { readonly wallet: number; readonly 'front end': number }
  /** Open payments that had to be finished at the end. */
  readonly left: number
  readonly unresolved: number
  readonly spent: readonly StoredSpending[]
  readonly spentBaseUnits: bigint
  /** Amount that left the wallet on chain. */
  readonly movedBaseUnits: bigint
  readonly runs: number
  readonly distinct: number
  /** Balance of each tab at the end, as the service states it. */
  readonly tabs: readonly string[]
}

export const priceBaseUnits = 20_000_000n
const pauseMs = 50

/** Three windows of an MCP host and a proxy spend from one wallet folder, while wallet and front ends are killed. */
export async function spendUnderKills(spree: Spree): Promise<SpreeReport> {
  const { environment, everyMs, ordersMax, limitBaseUnits, tabs } = spree
  const { chain, demoWallet, directory, env } = environment
  await using opened = new AsyncDisposableStack()
  const runsFile = join(directory, 'runs')
  await writeFile(runsFile, '')
  const server = await spawnServer({ env: { ...env, ...spree.env }, runsFile })
  opened.defer(() => server.stop())

  const mint = env['TOKEN_MINT'] ?? ''
  const folder = walletFolder(join(directory, 'wallet'))
  await mkdir(folder.path, { mode: 0o700 })
  await writeFile(folder.key, JSON.stringify([...demoWallet.secretKey]), { mode: 0o600 })
  const policy: z.input<typeof policyShape> = {
    rpcUrl: chain.rpcUrl,
    hosts: { [new URL(server.baseUrl).host]: {} },
    mints: { [mint]: { name: 'TOLL', usdPerToken: '0.001', perDayBaseUnits: limitBaseUnits.toString() } },
    limits: { perRequestUsd: '0.02', perDayUsd: '1000' },
    tabs,
  }
  await writeFile(folder.policy, JSON.stringify(policy), { mode: 0o600 })

  const question = { rpcUrl: chain.rpcUrl, wallet: demoWallet.publicKey.toBase58(), mint }
  const { heldBaseUnits: heldBefore } = await readBalance(question)
  const buyers = [
    ...(await Promise.all([1, 2, 3].map((number) => openWindowBuyer(`window ${number}`, folder.path)))),
    await openProxyBuyer(folder.path, () => readOrMakeProxyKey(folder)),
  ]
  say(`${buyers.length} front ends, a limit of ${limitBaseUnits} base units, a kill every ${everyMs} ms`)

  let next = 0
  let ended = 0
  const over = new AbortController()
  const answered = new Set<string>()
  const refused = new Map<string, number>()

  /** Buys order after order, two at a time from each front end. */
  async function buyOrders(buyer: Buyer): Promise<void> {
    while (next < ordersMax) {
      const symbol = `S${next++}`
      const bought = await buyUntilAnswered(buyer, `${server.baseUrl}/api/data/crypto?symbol=${symbol}`)
      ended++
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

  /** Waits for the end of an order after each kill. Otherwise a slow machine would only start processes. */
  async function killAll(): Promise<void> {
    for (let turn = 0; ; turn++) {
      const before = ended
      const isWaiting = () => ended === before && !over.signal.aborted
      while (isWaiting()) await systemClock.sleep(pauseMs)
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
  const onTabs = z.object({ tabs: z.array(z.object({ tokens: z.string() })).default([]) })
  const balances = onTabs.parse(await wallet.read('/balance')).tabs.map(({ tokens }) => tokens)
  const store = openPaymentFolder(folder.payments)
  const spent = await store.spending()
  const unresolved = (await store.pending()).length
  for (const buyer of buyers) await buyer.close()
  killPid((await askWallet(folder.socket))?.pid)

  const runs = (await readFile(runsFile, 'utf8')).trim().split('\n')
  return {
    answered: answered.size,
    refused,
    killed,
    left: left.length,
    unresolved,
    spent,
    spentBaseUnits: spent.reduce((sum, { baseUnits }) => sum + baseUnits, 0n),
    movedBaseUnits: heldBefore - (await readBalance(question)).heldBaseUnits,
    runs: runs.length,
    distinct: new Set(runs).size,
    tabs: balances,
  }
}
