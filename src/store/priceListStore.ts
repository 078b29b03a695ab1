import { LRUCache } from 'lru-cache'
import type { Address } from '@tollbook/core/address'
import { assert, Bug } from '@tollbook/core/assert'
import { Fault } from '@tollbook/core/fault'
import type { ListedPrice, Price } from '@tollbook/core/quote'
import type { LedgerKernel } from '@tollbook/ledger/port'
import type { PriceListPublished } from '../payment/events/settingEvents.ts'
import { decidePriceList, type Numbered, priceListName } from '../settings/settings.ts'
import { type Database, readOrFault, readRows } from './database.ts'
import { decodeSetting, settingItem } from './settingStore.ts'

export interface PriceListOnRecord {
  readonly number: number
  readonly effectiveAtMs: number
  readonly list: PriceListPublished
}

export interface PriceListStore {
  /**
   * Returns the price of an endpoint at a time, in the service token or in the dollar with this mint. Uses the list in
   * force at that time, or the first list if none was in force yet.
   */
  findPrice(endpoint: string, atMs: number, dollar?: Address): Promise<ListedPrice | undefined>
  listNumber(number: number): Promise<PriceListPublished | undefined>
  newest(): Promise<PriceListOnRecord | undefined>
  /** False if another instance has published a list after `newestNumber`. */
  append(list: PriceListPublished, newestNumber: number): Promise<boolean>
  /** A list that equals the newest list is not recorded again, so a restart keeps its number. */
  publish(list: PriceListPublished): Promise<number>
}

export interface PriceListDeps {
  readonly database: Database
  readonly kernel: LedgerKernel
  readonly nowMs: () => number
}

// Maximum of cached lists, each about 3 kB. Payments need only the newest lists.
const listsMax = 100

/** Caches each list after the first read, because published lists never change. */
export function createPriceListStore(deps: PriceListDeps): PriceListStore {
  const { database } = deps
  const lists = new LRUCache<number, PriceListPublished>({ max: listsMax })

  async function listNumber(number: number): Promise<PriceListPublished | undefined> {
    const known = lists.get(number)
    if (known !== undefined) return known
    const row = await readOrFault('a price list', () =>
      database
        .selectFrom('ledger.settings')
        .select('body')
        .where('name', '=', priceListName)
        .where('number', '=', number)
        .executeTakeFirst(),
    )
    if (row === undefined) return undefined
    const list = listOf(row.body)
    lists.set(number, list)
    return list
  }

  async function newest(): Promise<PriceListOnRecord | undefined> {
    const row = await readOrFault('the newest price list', () =>
      database
        .selectFrom('ledger.settings')
        .select(['number', 'valid_from', 'body'])
        .where('name', '=', priceListName)
        .orderBy('number', 'desc')
        .limit(1)
        .executeTakeFirst(),
    )
    if (row === undefined) return undefined
    return { number: row.number, effectiveAtMs: row.valid_from.getTime(), list: listOf(row.body) }
  }

  return {
    async findPrice(endpoint, atMs, dollar) {
      const rows = await readRows(database, 'the price list in force')<{
        number: number
      }>`select number from ledger.setting_at(${priceListName}, ${new Date(atMs)})`
      const priceList = rows[0]?.number
      const list = priceList === undefined ? undefined : await listNumber(priceList)
      const price = list === undefined ? undefined : priceIn(list, endpoint, dollar)
      return price === undefined || priceList === undefined ? undefined : { ...price, priceList }
    },
    listNumber,
    newest,
    append: (list, newestNumber) => append(deps, list, newestNumber),
    publish: (list) => publish(deps, list, newest),
  }
}

// Maximum of an event's body (constraint `events_body_fits_a_tile_entry`): about 170 prices.
const bodyBytesMax = 65_519

async function append(
  { kernel, nowMs }: PriceListDeps,
  list: PriceListPublished,
  newestNumber: number,
): Promise<boolean> {
  assert(newestNumber >= 0, 'price lists are numbered from 1')
  const decision = {
    step: 'price_list.publish',
    name: priceListName,
    number: newestNumber + 1,
    events: [list],
  } as const
  const item = settingItem(decision, nowMs())
  const bytes = item.events.reduce((sum, { body }) => sum + body.length, 0)
  if (bytes > bodyBytesMax)
    throw new Fault(
      `a price list of ${list.prices.length} prices takes ${bytes} bytes, and at most ${bodyBytesMax} are recorded: sell fewer products, or in fewer CURRENCIES`,
      { retryable: false },
    )
  const result = await kernel.append(item)
  if (result.outcome === 'appended') return true
  const { reason } = result.refusal
  assert(reason === 'conflict' || reason === 'guard', `a price list is not refused as ${reason}`)
  return false
}

// Maximum of tries. Two instances that start together may both read the old list. The append of the slower instance is
// then refused, and this instance reads the newest list again.
const triesMax = 5

async function publish(
  deps: PriceListDeps,
  list: PriceListPublished,
  newest: PriceListStore['newest'],
): Promise<number> {
  for (let tries = 1; tries <= triesMax; tries++) {
    const found = await newest()
    const before: Numbered<PriceListPublished> | undefined =
      found === undefined ? undefined : { number: found.number, event: found.list }
    const decision = decidePriceList(before, list)
    if (decision === undefined) return found?.number ?? 1
    if (await append(deps, list, decision.number - 1)) return decision.number
  }
  throw new Bug(`expected that a price list can be published within ${triesMax} tries`)
}

/** Without `dollar`: the price in the service token, which comes first in every list. */
export function priceIn({ prices }: PriceListPublished, endpoint: string, dollar?: Address): Price | undefined {
  return prices.find((price) => price.endpoint === endpoint && (dollar === undefined || price.mint === dollar))
}

function listOf(body: Uint8Array): PriceListPublished {
  const { event } = decodeSetting(body)
  assert(event.kind === 'PriceListPublished', 'a price list holds a price list')
  return event
}
