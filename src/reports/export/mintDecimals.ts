import { decodeEvent } from '../../payment/eventCodec.ts'
import type { Price } from '@tollbook/core/quote'
import { assert, assertPresent } from '@tollbook/core/assert'
import type { Decimals } from './table.ts'
import type { Snapshot } from './snapshot.ts'

/** How many decimals each mint of the book has: entries do not say, the first payment in that mint does. */
export async function mintDecimals(snapshot: Snapshot): Promise<Decimals> {
  const mints = await snapshot.selectFrom('ledger.balances').select('mint').distinct().execute()
  const decimals = new Map<string, number>()
  for (const { mint } of mints) decimals.set(mint, await readDecimals(snapshot, mint))
  return (mint) => {
    const known = decimals.get(mint)
    assert(known !== undefined, `the book has a payment in each mint that it has entries of, and so in ${mint}`)
    return known
  }
}

async function readDecimals(snapshot: Snapshot, mint: string): Promise<number> {
  const payment = await snapshot
    .selectFrom('ledger.entries as entry')
    .innerJoin('ledger.events as event', 'event.seq', 'entry.seq')
    .select('event.body')
    .where('entry.mint', '=', mint)
    .where('event.kind', '=', 'PaymentVerified')
    .orderBy('entry.seq')
    .limit(1)
    .executeTakeFirst()
  // Tokens may arrive before anybody has paid with them; the list of prices names their mint.
  const newest = snapshot.selectFrom('ledger.price_lists').select('body').orderBy('version', 'desc').limit(1)
  const source = payment ?? (await newest.executeTakeFirst())
  const price = source === undefined ? undefined : pricesOf(source.body).find((price) => price.mint === mint)
  return assertPresent(price, `the book says how many decimals ${mint} has`).decimals
}

function pricesOf(body: Buffer): readonly Price[] {
  const { event } = decodeEvent(body.toString('utf8'))
  if (event.kind === 'PaymentVerified') return [event.settlement.price]
  return event.kind === 'PriceListPublished' ? event.prices : []
}
