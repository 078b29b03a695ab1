import { editBody, forgeLeaf, forged, type Tampering, onRow } from './tampering.ts'

/* Facts of a payment: attempts, owners, prices, splits, exposure. */

/** Swaps the first two entries of a list of shares. */
function firstTwo(list: string): { readonly from: string; readonly to: string } {
  return { from: `"${list}":\\[(\\{[^}]*\\}),(\\{[^}]*\\})`, to: `"${list}":[\\2,\\1` }
}

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
    'a price that was never published',
    {
      kind: 'PaymentVerified',
      nth: 4,
      from: '"priceMicroUsd":"10000"(.*)"tokenPriceAttoUsd":"1000000000000000"',
      to: '"priceMicroUsd":"20000"\\1"tokenPriceAttoUsd":"2000000000000000"',
    },
    { aspect: 'arithmetic', code: 'price_not_published' },
  ),
  forged(
    'the split of a price',
    { kind: 'PaymentVerified', from: '("treasury","baseUnits":)"\\d+"', to: '\\1"1"' },
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
    { kind: 'DistributionAllocated', from: '("treasury","baseUnits":)"\\d+"', to: '\\1"1"' },
    { aspect: 'arithmetic', code: 'distribution_differs' },
  ),
  forged(
    'the quote of a payment',
    { kind: 'PaymentVerified', from: '"quoteId":"quote_..', to: '"quoteId":"quote_xx' },
    { aspect: 'integrity', code: 'tile_differs' },
  ),
  forged(
    'the reference of a payment',
    { kind: 'PaymentVerified', from: '"reference":"solana:....', to: '"reference":"solana:1111' },
    { aspect: 'arithmetic', code: 'lifecycle_impossible' },
  ),
  forged(
    'the order of the shares of a price',
    { kind: 'PaymentVerified', ...firstTwo('shares') },
    { aspect: 'arithmetic', code: 'price_wrong' },
  ),
  forged(
    'the order of what was distributed',
    { kind: 'DistributionAllocated', ...firstTwo('parts') },
    { aspect: 'arithmetic', code: 'distribution_differs' },
  ),
  forged(
    'an account of what was distributed',
    { kind: 'DistributionAllocated', from: '"account":"treasury"', to: '"account":"another"' },
    { aspect: 'arithmetic', code: 'distribution_differs' },
  ),
  forged(
    'a part of the split of a price list',
    { kind: 'PriceListPublished', nth: 0, from: '("treasury","perMille":)50', to: '\\151' },
    { aspect: 'arithmetic', code: 'split_wrong' },
  ),
  forged(
    'two parts of the split of a price list',
    {
      kind: 'PriceListPublished',
      nth: 0,
      from: '("provider","perMille":)500(.*"treasury","perMille":)50',
      to: '\\1490\\260',
    },
    { aspect: 'arithmetic', code: 'price_wrong' },
  ),
  forged(
    'the exposure of a claim',
    { kind: 'ProofClaimed', from: '"exposedBaseUnits":"\\d+"', to: '"exposedBaseUnits":"1"' },
    { aspect: 'arithmetic', code: 'exposure_differs' },
  ),
  forged(
    'the exposure that ends with a failure',
    { kind: 'RequestFailed', from: '"exposedBaseUnits":"\\d+"', to: '"exposedBaseUnits":"0"' },
    { aspect: 'arithmetic', code: 'exposure_differs' },
  ),
  onRow(
    'the exposure of a claim, in its event, its leaf, its posting and the accounts',
    ['ProofClaimed', 6],
    { aspect: 'arithmetic', code: 'exposure_differs' },
    (position) => `${editBody(position, '"exposedBaseUnits":"\\d+"', '"exposedBaseUnits":"1"')};
        ${forgeLeaf} where seq = ${position};
        alter table ledger.accounts drop constraint accounts_stay_within_limits;
        update ledger.accounts a set balance = a.balance + (case when a.id = e.debits[1] then 1 else -1 end) * (1 - e.amounts[1])
          from ledger.events e where e.seq = ${position} and a.id in (e.debits[1], e.credits[1]);
        update ledger.events set amounts[1] = 1 where seq = ${position}`,
  ),
  forged(
    'the version of an event',
    { kind: 'RequestFulfilled', from: '"version":\\d+', to: '"version":40' },
    { aspect: 'completeness', code: 'version_missing' },
  ),
  forged(
    // Four characters: one alone was the same as before in one ledger of 64.
    'some bytes of a stored transaction',
    { kind: 'PaymentVerified', from: '"transactionBase64":"(.{200})....', to: '"transactionBase64":"\\1Az9+' },
    { aspect: 'chainTruth', code: 'transaction_bytes_wrong' },
  ),
  {
    name: 'a second fulfilment, appended with its leaf and the head',
    run: async (ledger) => {
      const [position, head] = [await ledger.nth('RequestFulfilled', 2), await ledger.head()]
      await ledger.sql(`insert into ledger.events (seq, stream, version, kind, schema_version, recorded_at, effective_at, body, leaf_hash)
        select ${head + 1}, stream, version, kind, schema_version, (select recorded_at from ledger.head), effective_at, body, leaf_hash
        from ledger.events where seq = ${position};
        ${forgeLeaf} where seq = ${head + 1};
        update ledger.head set seq = ${head + 1}`)
      return { aspect: 'arithmetic', code: 'lifecycle_impossible', position: head + 1 }
    },
  },
]
