import { forgeLeaf, forged, type Tampering } from './tampering.ts'

/* What the book says happened: attempts, owners, prices, splits. */

export const tamperedRules: readonly Tampering[] = [
  forged(
    'the attempt of a claim',
    { kind: 'ProofClaimed', from: '"attempt":1', to: '"attempt":2', nth: 0 },
    { aspect: 'arithmetic', code: 'attempt_wrong' },
  ),
  forged(
    'the attempt of a fulfilment',
    { kind: 'RequestFulfilled', from: '"attempt":\\d', to: '"attempt":9' },
    { aspect: 'arithmetic', code: 'attempt_wrong' },
  ),
  forged(
    'the wallet of a claim',
    { kind: 'ProofClaimed', from: '"wallet":"....', to: '"wallet":"1111' },
    { aspect: 'arithmetic', code: 'owner_differs' },
  ),
  forged(
    'the endpoint of a claim',
    { kind: 'ProofClaimed', from: '"endpoint":"[^"]*"', to: '"endpoint":"/api/other"' },
    { aspect: 'arithmetic', code: 'owner_differs' },
  ),
  forged(
    'the wallet of a payment',
    { kind: 'PaymentVerified', from: '"wallet":"....', to: '"wallet":"1111' },
    { aspect: 'chainTruth', code: 'transaction_bytes_wrong' },
  ),
  forged(
    'the price of a payment',
    { kind: 'PaymentVerified', from: '"priceMicroUsd":"\\d+"', to: '"priceMicroUsd":"1"' },
    { aspect: 'arithmetic', code: 'price_wrong' },
  ),
  forged(
    'a price that nobody offered',
    {
      kind: 'PaymentVerified',
      nth: 3,
      from: '"priceMicroUsd":"10000"(.*)"tokenPriceAttoUsd":"1000000000000000"',
      to: '"priceMicroUsd":"20000"\\1"tokenPriceAttoUsd":"2000000000000000"',
    },
    { aspect: 'arithmetic', code: 'price_not_published' },
  ),
  forged(
    'the split of a price',
    { kind: 'PaymentVerified', from: '"treasuryBaseUnits":"\\d+"', to: '"treasuryBaseUnits":"1"' },
    { aspect: 'arithmetic', code: 'price_wrong' },
  ),
  forged(
    'what was received',
    { kind: 'PaymentVerified', from: '"receivedBaseUnits":"\\d+"', to: '"receivedBaseUnits":"1"' },
    { aspect: 'arithmetic', code: 'payment_short' },
  ),
  forged(
    'what was burned',
    { kind: 'TokensBurned', from: '"burnedBaseUnits":"\\d+"', to: '"burnedBaseUnits":"1"' },
    { aspect: 'arithmetic', code: 'burn_differs' },
  ),
  forged(
    'what was distributed',
    { kind: 'DistributionAllocated', from: '"treasuryBaseUnits":"\\d+"', to: '"treasuryBaseUnits":"1"' },
    { aspect: 'arithmetic', code: 'distribution_differs' },
  ),
  forged(
    'the quote of a payment',
    { kind: 'PaymentVerified', from: '"quoteId":"quote_..', to: '"quoteId":"quote_xx' },
    { aspect: 'integrity', code: 'tile_differs' },
  ),
  forged(
    'the signature of a payment',
    { kind: 'PaymentVerified', from: '"signature":"....', to: '"signature":"1111' },
    { aspect: 'arithmetic', code: 'life_impossible' },
  ),
  forged(
    'the version of an event',
    { kind: 'RequestFulfilled', from: '"version":\\d+', to: '"version":40' },
    { aspect: 'completeness', code: 'version_missing' },
  ),
  forged(
    // Four characters: one alone was the same as before in one book of 64.
    'some bytes of a stored transaction',
    { kind: 'PaymentVerified', from: '"transactionBase64":"(.{200})....', to: '"transactionBase64":"\\1Az9+' },
    { aspect: 'chainTruth', code: 'transaction_bytes_wrong' },
  ),
  {
    name: 'a second fulfilment, appended with its leaf and the head',
    run: async (book) => {
      const [position, head] = [await book.nth('RequestFulfilled', 2), await book.head()]
      await book.sql(`insert into ledger.events (seq, stream, version, kind, schema_version, recorded_at, effective_at, body, leaf_hash)
        select ${head + 1}, stream, version, kind, schema_version, (select recorded_at from ledger.head), effective_at, body, leaf_hash
        from ledger.events where seq = ${position};
        ${forgeLeaf} where seq = ${head + 1};
        update ledger.head set seq = ${head + 1}`)
      return { aspect: 'arithmetic', code: 'life_impossible', position: head + 1 }
    },
  },
]
