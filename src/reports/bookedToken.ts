import { decodeEvent } from '../payment/eventCodec.ts'
import { type Database, readOrFault } from '../store/database.ts'

export interface BookedToken {
  readonly mint: string
  readonly decimals: number
}

/** The token of the newest price list. Undefined before anything was ever priced: the book is empty then. */
export async function bookedToken(database: Database): Promise<BookedToken | undefined> {
  const row = await readOrFault('the newest price list', () =>
    database.selectFrom('ledger.price_lists').select('body').orderBy('version', 'desc').limit(1).executeTakeFirst(),
  )
  if (row === undefined) return undefined
  const { event } = decodeEvent(row.body.toString('utf8'))
  const price = event.kind === 'PriceListPublished' ? event.prices[0] : undefined
  return price === undefined ? undefined : { mint: price.mint, decimals: price.decimals }
}
