import { ledgerCodec } from '../payment/events.ts'
import { type Database, readRows } from '../store/database.ts'

export interface LedgerToken {
  readonly mint: string
  readonly decimals: number
}

export async function newestPriceList(database: Database): Promise<string | undefined> {
  const [row] = await readRows(database, 'the newest price list')<{
    body: Buffer
  }>`select body from ledger.settings where name = 'prices' order by number desc limit 1`
  return row?.body.toString('utf8')
}

export async function ledgerToken(database: Database): Promise<LedgerToken | undefined> {
  const body = await newestPriceList(database)
  if (body === undefined) return undefined
  const { event } = ledgerCodec.decode(body)
  const price = event.kind === 'PriceListPublished' ? event.prices[0] : undefined
  return price === undefined ? undefined : { mint: price.mint, decimals: price.decimals }
}
