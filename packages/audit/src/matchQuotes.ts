import type { CopyBlock } from './copyOut.ts'
import { CopyRow } from './copyRow.ts'
import { base58Of } from './base58Text.ts'
import type { Replay } from './replay.ts'

/*
 * A quote that was paid is copied whole into its payment, so its row must say the same for as long as it is kept. Unpaid
 * quotes are no part of the book, and the partitions of old ones may be gone.
 */
export const quotesQuery = `select p.signature, q.id, q.wallet, q.endpoint, q.burn, q.decimals, q.holders, q.mint,
     q.price_micro_usd, q.provider, q.required, q.token_price_atto_usd, q.treasury
   from ledger.payments p
   join ledger.quotes q on q.wallet = p.wallet and q.endpoint = p.endpoint and q.id = p.quote_id`

export async function matchQuotes(replay: Replay, blocks: AsyncGenerator<CopyBlock>): Promise<void> {
  const reader = new CopyRow()
  for await (const { bytes, starts, count } of blocks) {
    for (let index = 0; index < count; index++) {
      reader.open(bytes, starts[index] ?? 0)
      matchRow(replay, reader)
    }
  }
}

function matchRow({ payments, digest, findings }: Replay, reader: CopyRow): void {
  const index = payments.find(digest.pairOf(base58Of(reader.blob())))
  const id = reader.text() ?? ''
  const wallet = reader.latin1()
  const priceDigest = digest.of(readPriceText(reader))
  if (index === undefined) return
  const payment = payments.read(index)
  // Submitted and not verified yet: the book has no price of it to compare with.
  if (payment.requiredBaseUnits === 0n) return
  if (digest.of(wallet) === payment.walletDigest && priceDigest === payment.priceDigest) return
  const message = 'the row of the quote has another price than the payment that was made for it'
  findings.add('quote_differs', { position: payment.lastPosition, subject: id, message })
}

/** The canonical text of a price, from the columns of a quote. */
function readPriceText(reader: CopyRow): string {
  // Bodies are compared byte by byte, one character for each.
  const endpoint = Buffer.from(JSON.stringify(reader.text() ?? '')).toString('latin1')
  const burn = reader.numeric()
  const decimals = reader.int16()
  const holders = reader.numeric()
  const mint = reader.latin1()
  const micro = reader.int64()
  const provider = reader.numeric()
  const required = reader.numeric()
  const atto = reader.numeric()
  const treasury = reader.numeric()
  return `{"burnBaseUnits":"${burn}","decimals":${decimals},"endpoint":${endpoint},"holdersBaseUnits":"${holders}","mint":"${mint}","priceMicroUsd":"${micro}","providerBaseUnits":"${provider}","requiredBaseUnits":"${required}","tokenPriceAttoUsd":"${atto}","treasuryBaseUnits":"${treasury}"}`
}
