import { z } from 'zod'
import { withAdminSession } from '../../support/adminSession.ts'
import type { Sale } from './buyers.ts'
import { pegKnownMs, type Trouble } from './trouble.ts'

/* Figures of the receipts, computed without code of the service, and how the ledger differs from them. */

export interface Expected {
  /** Base units that left the payers by mint: prices paid, without what tabs paid. */
  readonly paid: ReadonlyMap<string, bigint>
  /** Burned inside the payments. */
  readonly insideBaseUnits: bigint
  /** Owed in the token: by sales in dollars, and by payments of the whole price. */
  readonly owedBaseUnits: bigint
  readonly owedForDollarsBaseUnits: bigint
  /** Prices in dollars, of payments and of tabs. */
  readonly dollarsBaseUnits: bigint
  readonly wrong: readonly string[]
}

export interface ProofLedgerFigures {
  /** Account balances, by `mint name`. */
  readonly balances: ReadonlyMap<string, bigint>
  readonly events: readonly LedgerEvent[]
  /** The price of the token by number of the price list, in 10^-18 US dollars. */
  readonly tokenPrices: ReadonlyMap<number, bigint>
  /** Streams of payments by state. */
  readonly states: ReadonlyMap<string, number>
}

interface LedgerEvent {
  readonly seq: number
  readonly kind: string
  readonly stream: string
  readonly atMs: number
  readonly body: z.infer<typeof eventBody>
}

const eventBody = z.looseObject({
  stream: z.string(),
  owedBaseUnits: z.string().optional(),
  receivedBaseUnits: z.string().optional(),
  burnedBaseUnits: z.string().optional(),
  source: z.string().optional(),
  mint: z.string().optional(),
})
const listBody = z.object({ prices: z.array(z.object({ tokenPriceAttoUsd: z.string() })).min(1) })

export async function readLedger(adminUrl: string): Promise<ProofLedgerFigures> {
  return withAdminSession(adminUrl, async (admin) => {
    const text = "convert_from(body, 'UTF8')"
    const accounts = await admin.query<{ key: string; balance: string }>(
      "select mint || ' ' || name as key, balance::text from ledger.accounts",
    )
    const events = await admin.query<{ seq: string; kind: string; at_ms: string; body: string }>(
      `select seq::text, kind, (extract(epoch from recorded_at) * 1000)::text as at_ms, ${text} as body from ledger.events order by seq`,
    )
    const lists = await admin.query<{ number: number; body: string }>(
      `select number, ${text} as body from ledger.settings where name = 'prices'`,
    )
    const states = await admin.query<{ state: string; count: string }>(
      "select state, count(*)::text from ledger.streams where kind = 'payment' group by state",
    )
    return {
      balances: new Map(accounts.rows.map(({ key, balance }) => [key, BigInt(balance)])),
      events: events.rows.map(({ seq, kind, at_ms: atMs, body }) => {
        const parsed = eventBody.parse(JSON.parse(body))
        return { seq: Number(seq), kind, stream: parsed.stream, atMs: Number(atMs), body: parsed }
      }),
      tokenPrices: new Map(
        lists.rows.map(({ number, body }) => {
          return [number, BigInt(listBody.parse(JSON.parse(body)).prices[0]?.tokenPriceAttoUsd ?? 0)]
        }),
      ),
      states: new Map(states.rows.map(({ state, count }) => [state, Number(count)])),
    }
  })
}

const dividedUp = (amount: bigint, by: bigint) => (amount + by - 1n) / by
const tokensFor = (microUsd: bigint, attoUsd: bigint) => dividedUp(microUsd * 10n ** 18n, attoUsd)
const burnOf = (baseUnits: bigint) => dividedUp(baseUnits * 3n, 10n)

export interface Selling {
  readonly token: string
  readonly dollar: string
  /** Price of each path in millionths of a US dollar. */
  readonly prices: ReadonlyMap<string, bigint>
}

/** Adds the receipts up, and checks each of them: its price, its burn and its division. */
export function expectedOf(
  sales: readonly Sale[],
  { token, dollar, prices }: Selling,
  ledger: ProofLedgerFigures,
): Expected {
  const wrong: string[] = []
  const paid = new Map<string, bigint>()
  let [inside, owed, owedForDollars, dollars] = [0n, 0n, 0n, 0n]
  const dropped = new Set(ledger.events.filter(({ kind }) => kind === 'PaymentReversed').map(({ stream }) => stream))
  for (const { buyer, receipt } of sales) {
    const microUsd = prices.get(receipt.endpoint) ?? 0n
    const attoUsd = ledger.tokenPrices.get(receipt.priceList ?? 0) ?? 1n
    const tokens = tokensFor(microUsd, attoUsd)
    const isDollar = receipt.currency !== undefined
    const isOnTab = buyer.startsWith('tab')
    const required = isDollar ? microUsd : tokens
    const burn = burnOf(tokens)
    const stated = isDollar ? receipt.tokenBurn?.baseUnits : (receipt.burnOwed ?? receipt.burned)
    const shared = Object.values(receipt.distribution).reduce((sum, part) => sum + BigInt(part), 0n)
    const name = `${buyer}, event ${receipt.ledger.position}`
    if (BigInt(receipt.requiredBaseUnits) !== required)
      wrong.push(`${name}: costs ${receipt.requiredBaseUnits}, not ${required}`)
    if (BigInt(stated ?? -1) !== burn) wrong.push(`${name}: burns ${stated}, not ${burn}`)
    if (shared !== (isDollar ? required : required - burn)) wrong.push(`${name}: ${shared} are shared of ${required}`)
    if (isDollar && (receipt.burned !== '0' || receipt.currency?.mint !== dollar)) wrong.push(`${name}: burns dollars`)
    // A payment that the chain dropped was neither paid nor burned, and its burn is not owed.
    if (!isOnTab && dropped.has(`solana:${receipt.signature}`)) continue
    inside += BigInt(receipt.burned)
    owed += BigInt(receipt.tokenBurn?.baseUnits ?? receipt.burnOwed ?? 0)
    owedForDollars += BigInt(receipt.tokenBurn?.baseUnits ?? 0)
    const mint = isDollar ? dollar : token
    if (isDollar) dollars += required
    if (!isOnTab) paid.set(mint, (paid.get(mint) ?? 0n) + required)
  }
  const burns = { insideBaseUnits: inside, owedBaseUnits: owed, owedForDollarsBaseUnits: owedForDollars }
  return { paid, ...burns, dollarsBaseUnits: dollars, wrong }
}

/** Every delivery has exactly one buyer, and every payment that stayed on the chain has a delivery. */
export function findUnserved(sales: readonly Sale[], { events, states }: ProofLedgerFigures): readonly string[] {
  const wrong: string[] = []
  const bought = sales.map(({ receipt }) => receipt.ledger.position)
  const ofDeposits = new Set(events.filter(({ kind }) => kind === 'TabOpened').map(({ stream }) => stream))
  const delivered = events.filter(
    ({ kind, stream }) => kind === 'TabCaptured' || (kind === 'RequestFulfilled' && !ofDeposits.has(stream)),
  )
  const buyersOf = Map.groupBy(sales, ({ receipt }) => receipt.ledger.position)
  const shared = [...buyersOf.values()].filter((each) => each.length > 1)
  const unbought = delivered.filter(({ seq }) => !bought.includes(seq))
  for (const each of shared) {
    const buyers = each.map(({ buyer, receipt }) => `${buyer} (${receipt.signature})`)
    wrong.push(`one answer of ${each[0]?.receipt.endpoint} went to ${buyers.join(' and ')}`)
  }
  if (delivered.length !== bought.length) wrong.push(`${delivered.length} deliveries for ${bought.length} sales`)
  for (const { seq, stream } of unbought.slice(0, 5)) wrong.push(`event ${seq} of ${stream} was delivered to no buyer`)
  const ends = new Set(['fulfilled.final', 'reversed', 'submitted', 'unmatched'])
  for (const [state, count] of states) if (!ends.has(state)) wrong.push(`${count} payments ended as ${state}`)
  const unmatched = events.filter(({ kind }) => kind === 'TransferReceived').length
  if (unmatched > 0) wrong.push(`${unmatched} payers were charged without an answer`)
  return wrong
}

// An offer shares a reading of one second. The record of its payment may wait for a killed Postgres.
const readingMs = 20_000

/** No dollar is sold while the peg is away, or above the limit of the promised burns. */
export function findForbidden(
  { events }: ProofLedgerFigures,
  { away }: Trouble,
  { dollar, limitBaseUnits }: { readonly dollar: string; readonly limitBaseUnits: bigint },
): readonly string[] {
  const wrong: string[] = []
  const submittedAt = new Map(
    events.filter(({ kind }) => kind === 'PaymentSubmitted').map(({ stream, atMs }) => [stream, atMs]),
  )
  const debts: { atMs: number; baseUnits: bigint }[] = [{ atMs: 0, baseUnits: 0n }]
  for (const { seq, kind, stream, atMs, body } of events) {
    const acceptedAtMs = submittedAt.get(stream) ?? atMs
    const before = debts.at(-1)?.baseUnits ?? 0n
    const owed = BigInt(body.owedBaseUnits ?? 0)
    if ((kind === 'PaymentSubmitted' || kind === 'TabDebited') && JSON.stringify(body).includes(dollar)) {
      if (atMs > away[0] + pegKnownMs && atMs < away[1])
        wrong.push(`event ${seq}: dollars were accepted while the peg was away`)
    }
    if (kind === 'BurnOwed' && body.source === 'treasury') {
      debts.push({ atMs, baseUnits: before + owed })
      const from = debts.findLastIndex((debt) => debt.atMs < acceptedAtMs - readingMs)
      const read = debts.slice(Math.max(0, from)).filter((debt) => debt.atMs <= acceptedAtMs)
      const least = read.reduce((min, { baseUnits }) => (baseUnits < min ? baseUnits : min), before)
      if (least + owed > limitBaseUnits)
        wrong.push(`event ${seq}: promised ${owed} above ${least}, the limit is ${limitBaseUnits}`)
    }
    if (kind === 'BurnOwedReversed') debts.push({ atMs, baseUnits: before - owed })
    if (kind === 'TokensDelivered') debts.push({ atMs, baseUnits: before - BigInt(body.receivedBaseUnits ?? 0) })
  }
  return wrong
}

export function sumOf(
  { events }: ProofLedgerFigures,
  kind: string,
  amount: 'burnedBaseUnits' | 'receivedBaseUnits',
): bigint {
  return events.filter((event) => event.kind === kind).reduce((sum, { body }) => sum + BigInt(body[amount] ?? 0), 0n)
}
