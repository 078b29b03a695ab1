import type { Keypair } from '@solana/web3.js'
import { assertPresent } from '@tollbook/core/assert'
import { poll } from '../../support/poll.ts'
import { type Cell, type Change, changes, nameOf, type State } from './cells.ts'
import { type Customer, openCustomer } from './customers.ts'
import type { Facts, Scene } from './scene.ts'

interface Bought {
  readonly cell: Cell
  readonly wallet: Keypair
  readonly customer: Customer
  readonly before: Facts
}

// All payments before a change are made at once, as many as the chain of a test takes.
const atOnce = 8

/** Runs the cells by change. Returns a line for each that does not hold. */
export async function runCells(scene: Scene, cells: readonly Cell[]): Promise<readonly string[]> {
  const wrong: string[] = []
  for (const change of changes) wrong.push(...(await runChange(scene, change, cells)))
  return wrong
}

async function runChange(scene: Scene, change: Change, all: readonly Cell[]): Promise<readonly string[]> {
  const cells = all.filter((cell) => cell.change === change)
  if (cells.length === 0) return []
  const wallets = await scene.fund(cells.length)
  const bought = await inParts(cells, async (cell, index) =>
    buy(scene, cell, assertPresent(wallets[index], 'each cell has a wallet')),
  )
  await scene.apply(change)
  await scene.passRequests()
  const complaints = await inParts(bought, (each) => check(scene, each))
  if (change === 'clock off') await scene.apply('restart')
  return complaints.flatMap((complaint) => complaint ?? [])
}

async function inParts<T, R>(items: readonly T[], work: (item: T, index: number) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = []
  for (let from = 0; from < items.length; from += atOnce)
    results.push(...(await Promise.all(items.slice(from, from + atOnce).map((item, at) => work(item, from + at)))))
  return results
}

async function buy(scene: Scene, cell: Cell, wallet: Keypair): Promise<Bought> {
  const customer = await openCustomer(cell, { ...scene, wallet })
  scene.interrupt(wallet, cell.state)
  const status = await customer.call()
  const before = await scene.facts(wallet)
  const expected = cell.state === 'sent' ? 200 : cell.state === 'released' ? 502 : 503
  const isOurs = cell.client === 'ours'
  const phase = before.phases[0]?.replace('.final', '')
  const isPaid = phase === phaseOf[cell.state] || (cell.kind === 'signature' && phase === undefined)
  if ((!isOurs && status !== expected) || !isPaid)
    throw new Error(`${nameOf(cell)}: the first call is answered with ${status}, and the payment is ${phase}`)
  return { cell, wallet, customer, before }
}

const phaseOf: Readonly<Record<State, string>> = {
  submitted: 'submitted',
  landed: 'submitted',
  verified: 'claimed',
  released: 'released',
  unsent: 'fulfilled',
  sent: 'fulfilled',
}
const runsOf: Readonly<Record<State, number>> = {
  submitted: 1,
  landed: 1,
  verified: 1,
  released: 2,
  unsent: 1,
  sent: 1,
}

/**
 * The next call of the client gets the answer of the payment, and so does its header, and nothing is paid or made
 * twice.
 */
async function check(scene: Scene, { cell, wallet, customer, before }: Bought): Promise<string | undefined> {
  const say = (what: string) => `${nameOf(cell)}: ${what}`
  try {
    // An answer that was sent has been received: another call of a stock client is another purchase.
    const status = cell.state === 'sent' ? 200 : await nextCall(customer)
    if (status !== 200) return say(`the next call is answered with ${status}; before ${JSON.stringify(before)}`)
    const again = await customer.repeat()
    const body = await again.text()
    const offers = ['payment-required', 'www-authenticate'].filter((name) => again.headers.has(name))
    if (offers.length > 0) return say(`the same header gets ${again.status} with an offer: ${body.slice(0, 200)}`)
    const isKnown = again.status === 200 || body.includes('already_used')
    if (!isKnown) return say(`the same header gets ${again.status}: ${body.slice(0, 200)}`)
  } catch (error) {
    return say(String(error))
  }
  const { payments, deliveries, runs, phases } = await scene.facts(wallet)
  const holds = payments === 1 && deliveries === 1 && runs === runsOf[cell.state]
  return holds ? undefined : say(`${payments} payments, ${deliveries} deliveries, ${runs} runs, ${phases.join(' ')}`)
}

/** 409 and 503 ask for the same call again. */
async function nextCall(customer: Customer): Promise<number | undefined> {
  const probe = async () => {
    const status = await customer.call()
    return status === 409 || status === 503 ? undefined : status
  }
  return poll({ probe, timeoutMs: answeredWithinMs })
}

// Only a combination that does not hold waits for it.
const answeredWithinMs = 25_000
