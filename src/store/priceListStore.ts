import { assert } from '@tollbook/core/assert'
import { decodeEvent, encodeEvent } from '../payment/eventCodec.ts'
import type { PriceListPublished } from '../payment/events.ts'
import type { Price } from '@tollbook/core/quote'
import { priceListItem } from './appendBatch.ts'
import { type Database, readOrFault } from './database.ts'
import type { EventStore } from './eventStore.ts'

export interface PriceListOnRecord {
  readonly version: number
  readonly effectiveAtMs: number
  readonly list: PriceListPublished
}

export interface PriceListDeps {
  readonly database: Database
  readonly events: EventStore
}

/**
 * The price of an endpoint in the list that was in force at that moment; in the first list, if none was yet. The newest
 * version decides, and not the latest time: instances publish by clocks of their own, which differ a little.
 */
export async function findPrice(database: Database, endpoint: string, atMs: number): Promise<Price | undefined> {
  const lists = database.selectFrom('ledger.price_lists').select(['version', 'body'])
  const row = await readOrFault('a price list', async () => {
    const inForce = await lists
      .where('effective_at', '<=', new Date(atMs))
      .orderBy('version', 'desc')
      .limit(1)
      .executeTakeFirst()
    return inForce ?? (await lists.orderBy('version').limit(1).executeTakeFirst())
  })
  return row === undefined ? undefined : listOf(row.body).prices.find((price) => price.endpoint === endpoint)
}

export async function newestPriceList(database: Database): Promise<PriceListOnRecord | undefined> {
  const row = await readOrFault('the newest price list', () =>
    database
      .selectFrom('ledger.price_lists')
      .select(['version', 'effective_at', 'body'])
      .orderBy('version', 'desc')
      .limit(1)
      .executeTakeFirst(),
  )
  return row === undefined
    ? undefined
    : { version: row.version, effectiveAtMs: row.effective_at.getTime(), list: listOf(row.body) }
}

/** False when the list of that version is not the newest any more: somebody else has published. */
export async function appendPriceList(
  { events }: PriceListDeps,
  list: PriceListPublished,
  after: { readonly expectedVersion: number; readonly nowMs: number },
): Promise<boolean> {
  const appended = await events.submit(priceListItem(list, after))
  return appended.outcome === 'appended'
}

// Two instances that start together may both find the old list; the loser sees the winner's and is content.
const attemptsMax = 5

/** Puts a list on record unless it is the newest already. No price is quoted that is not in the book. */
export async function publishPriceList(deps: PriceListDeps, list: PriceListPublished, nowMs: number): Promise<void> {
  for (let attempt = 1; attempt <= attemptsMax; attempt++) {
    const newest = await newestPriceList(deps.database)
    if (newest !== undefined && samePrices(newest.list, list)) return
    if (await appendPriceList(deps, list, { expectedVersion: newest?.version ?? 0, nowMs })) return
  }
  assert(false, `a price list can be published within ${attemptsMax} tries`)
}

function samePrices(one: PriceListPublished, other: PriceListPublished): boolean {
  const header = { stream: 'prices', version: 1, effectiveAtMs: 0 }
  return encodeEvent(one, header) === encodeEvent(other, header)
}

function listOf(body: Buffer): PriceListPublished {
  const { event } = decodeEvent(body.toString('utf8'))
  assert(event.kind === 'PriceListPublished', 'a price list holds a price list')
  return event
}
