import { ledgerCodec } from '../payment/events.ts'
import { type Database, readOrFault } from '../store/database.ts'
import { newestPriceList } from './priceLists.ts'

export interface LedgerToken {
  readonly mint: string
  readonly decimals: number
}

/** The token of the newest price list. Undefined in an empty ledger, which has none. */
export async function ledgerToken(database: Database): Promise<LedgerToken | undefined> {
  const body = await readOrFault('the newest price list', () => newestPriceList(database))
  if (body === undefined) return undefined
  const { event } = ledgerCodec.decode(body)
  const price = event.kind === 'PriceListPublished' ? event.prices[0] : undefined
  return price === undefined ? undefined : { mint: price.mint, decimals: price.decimals }
}
