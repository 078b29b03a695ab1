import { decodeEvent } from '../../payment/eventCodec.ts'
import { assert } from '../../primitives/assert.ts'
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
  const first = await snapshot
    .selectFrom('ledger.entries as entry')
    .innerJoin('ledger.events as event', 'event.seq', 'entry.seq')
    .select('event.body')
    .where('entry.mint', '=', mint)
    .where('event.kind', '=', 'PaymentVerified')
    .orderBy('entry.seq')
    .limit(1)
    .executeTakeFirstOrThrow()
  const { event } = decodeEvent(first.body.toString('utf8'))
  assert(event.kind === 'PaymentVerified', 'the column names the kind of the body')
  return event.settlement.price.decimals
}
