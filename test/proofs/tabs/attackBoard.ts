import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { ask, type Order } from '../../support/ask.ts'
import { awaitThat } from '../../support/awaitThat.ts'
import type { Payer } from '../../support/payer.ts'
import type { OpenedTab } from '../../tabs/tabClient.ts'
import { callTool } from '../callTool.ts'
import { say } from '../verdict.ts'
import { readTabSums } from './readTabSums.ts'
import type { TabFleet } from './tabFleet.ts'

// In base units at 0.001 dollars a token of 6 decimals: what the attacks buy, a deposit of a dollar, and a chat.
export const priceBaseUnits = 50_000_000n
export const depositBaseUnits = 1_000_000_000n
export const chatHoldBaseUnits = 2_000_000n

export const cryptoOrder = (symbol: string): Order => ({ path: `/api/data/crypto?symbol=${symbol}` })

/** Answer to one request of an attack. */
export interface Came {
  readonly status: number
  readonly said: string
  readonly body: Readonly<Record<string, unknown>>
}

const refusal = z.object({ reason: z.string().optional(), code: z.string().optional() })

/** Returns the reason or the code of a refusal. */
export function saidIn(body: unknown): string {
  const { reason, code } = refusal.parse(body)
  return reason ?? code ?? ''
}

/** Sends the requests of attacks to the instances in turn, and notes what came. */
export function createAttackBoard(fleet: TabFleet, atOnce: number) {
  const { payer, database } = fleet.environment
  const wrong: string[] = []
  const lines: string[] = []
  let nth = 0
  const baseUrl = () => fleet.baseUrl(nth++)

  function tell(line: string): void {
    lines.push(line)
    say(line)
  }

  return {
    fleet,
    wrong,
    lines,
    atOnce,
    baseUrl,
    tell,
    counter: (): { readonly baseUrl: string; readonly payer: Payer } => ({ baseUrl: baseUrl(), payer }),
    /** Notes what came, and that no more were sold than may be. */
    note(name: string, came: readonly Came[], soldMax = 0): void {
      const counts = new Map<string, number>()
      for (const { status, said } of came) counts.set(`${status} ${said}`, (counts.get(`${status} ${said}`) ?? 0) + 1)
      const answers = [...counts].map(([answer, count]) => (count === 1 ? answer : `${answer} × ${count}`))
      const line = `${name}: ${answers.join(', ')}`
      if (came.filter(({ status }) => status === 200).length > soldMax) wrong.push(`SOLD ${line}`)
      tell(line)
    },
    expectThat(what: string, holds: boolean): void {
      if (!holds) wrong.push(`NOT SO: ${what}`)
    },
    async http(order: Order): Promise<Came> {
      const { status, body } = await ask({ baseUrl: baseUrl(), payer }, order)
      return { status, said: saidIn(body), body }
    },
    /** A QR code as a call of a tool. */
    async tool(values: object | undefined, meta: Readonly<Record<string, unknown>>): Promise<Came> {
      const call = { name: 'tools_qrcode', arguments: { ...values }, meta }
      const { status, code, reason, ...body } = await callTool(baseUrl(), call)
      return { status, said: `${reason ?? code ?? ''} (mcp)`, body }
    },
    many: <T>(work: (index: number) => Promise<T>): Promise<readonly T[]> =>
      Promise.all(Array.from({ length: atOnce }, (_, index) => work(index))),
    async balanceOf({ tab }: OpenedTab): Promise<bigint> {
      const shown = z.object({ data: z.object({ balanceBaseUnits: z.string() }) })
      return BigInt(shown.parse(await (await fetch(`${baseUrl()}/api/tabs/${tab}`)).json()).data.balanceBaseUnits)
    },
    /** Returns when each debit was captured or released. */
    async settled(): Promise<void> {
      await awaitThat('no debit is open', async () => (await readTabSums(database.adminUrl)).open === 0)
    },
    /** Runs of the handler for symbols that begin so. */
    async runsOf(start: string): Promise<number> {
      return (await readFile(fleet.runsFile, 'utf8')).split('\n').filter((symbol) => symbol.startsWith(start)).length
    },
  }
}

export type AttackBoard = ReturnType<typeof createAttackBoard>
