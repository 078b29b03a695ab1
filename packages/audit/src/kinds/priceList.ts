import { z } from 'zod'
import { usd } from '../body.ts'
import { declareStep } from '../declaredKind.ts'
import { noteDecimals } from '../mintDecimals.ts'
import { type AuditedPrice, price } from '../price.ts'
import { type AuditedSplit, dollarSplit, findShareProblem, findSplitProblem, perMilleOf, split } from '../split.ts'
import { type AuditedKind, bodyOf, eventOf, type Judged } from './auditedKind.ts'
import { isDeposit } from './paymentSteps.ts'
import { countSetting, settingId } from './setting.ts'

// Do not check the market readings, because they move no money and nothing else in the ledger depends on them.
const reading = z.strictObject({
  liquidityUsd: usd.nullable(),
  source: z.string(),
  tokenPriceAttoUsd: usd,
})
const evidence = z.strictObject({
  agreedAtMs: z.int(),
  readings: z.array(reading),
  silent: z.array(z.strictObject({ source: z.string(), why: z.string() })),
  tokenPriceAttoUsd: usd,
})

const metered = z.strictObject({
  endpoint: z.string(),
  inputPerMillionMicroUsd: usd,
  minimumMicroUsd: usd,
  outputPerMillionMicroUsd: usd,
})

const published = bodyOf('PriceListPublished', {
  dollarSplits: z.array(z.strictObject({ mint: z.string(), split })).optional(),
  evidence: evidence.optional(),
  metered: z.array(metered).optional(),
  prices: z.array(price),
  source: z.string(),
  split,
})

const nameForm = /^prices#([1-9]\d{0,8})$/

export const priceList: AuditedKind = {
  kind: 'price_list',
  ...settingId,
  idPrefix: 'prices#',
  steps: [declareStep({ step: 'price_list.publish', to: 'published', events: ['PriceListPublished'] })],
  events: new Map([eventOf(published, { judge: judgePublished })]),
}

function judgePublished(event: z.output<typeof published>, at: Judged): void {
  const { blame, recordedAtMs, ledger } = at
  const [, digits = '0'] = nameForm.exec(event.stream) ?? []
  if (digits === '0') blame('lifecycle_impossible', 'a price list is in another stream')
  const number = Number(digits)
  countSetting({ name: 'prices', number, validFromMs: event.effectiveAt }, at)
  const wrongSplit = findSplitProblem(event.split)
  if (wrongSplit !== undefined) blame('split_wrong', wrongSplit)
  for (const problem of dollarSplitProblems(event)) blame('split_wrong', problem)
  const burns = event.split.some(({ account }) => account === 'burn')
  for (const listed of event.prices) {
    // A price in dollars burns nothing, but a sale at this price may owe a burn in the service token. The list has the
    // token price of an endpoint before its dollar price.
    const isFirst = event.prices.find(({ endpoint }) => endpoint === listed.endpoint) === listed
    const burnsNothing = listed.burnBaseUnits === 0n || listed.tokenBurn !== undefined
    const isDollar = burns && !isDeposit(listed) && (burnsNothing || !isFirst)
    const shares = isDollar ? dollarSplitOf(event, listed.mint) : event.split
    const problem =
      listed.problem ??
      (isDeposit(listed) ? undefined : findShareProblem(listed, shares)) ??
      (isDollar || (isDeposit(listed) && !isFirst) ? findDollarProblem(listed, event.prices) : undefined) ??
      noteDecimals(ledger.state, listed.mint, listed.decimals)
    if (problem !== undefined) blame('price_wrong', `${listed.endpoint}: ${problem}`)
  }
  ledger.periods.noteSplit(event.split, at)
  for (const { endpoint } of event.metered ?? [])
    if (event.prices.every((listed) => listed.endpoint !== endpoint))
      blame('price_wrong', `${endpoint} has a price by use and no price`)
  ledger.prices.publish({
    number,
    split: event.split,
    splitOf: (mint) => (mint === event.prices[0]?.mint ? event.split : dollarSplitOf(event, mint)),
    prices: event.prices,
    metered: event.metered ?? [],
    recordedAtMs,
  })
}

/**
 * Returns the split for prices in a dollar token. Default: the token's split, with the burn added to the treasury's
 * share.
 */
function dollarSplitOf({ dollarSplits = [], split }: z.output<typeof published>, dollar: string): AuditedSplit {
  return dollarSplits.find(({ mint }) => mint === dollar)?.split ?? dollarSplit(split)
}

/**
 * Returns the errors in the splits for dollar tokens. Such a split must burn nothing. The treasury's share must at
 * least cover the burn that the treasury delivers.
 */
function dollarSplitProblems({ dollarSplits = [], prices, split: ofToken }: z.output<typeof published>) {
  const [token] = prices
  return dollarSplits.flatMap(({ mint, split }, index) => {
    const burns = split.some(({ account }) => account === 'burn')
    const isPoor = perMilleOf(split, 'treasury') < perMilleOf(ofToken, 'burn')
    const problem =
      findSplitProblem(split) ??
      (burns ? 'it burns' : undefined) ??
      (mint === token?.mint ? 'it is the service token' : undefined) ??
      (dollarSplits.findIndex((other) => other.mint === mint) < index ? 'it has two splits' : undefined) ??
      (isPoor && prices.some((listed) => listed.mint === mint && listed.tokenBurn !== undefined)
        ? 'the treasury gets less than the burn that it delivers'
        : undefined)
    return problem === undefined ? [] : [`the split of the dollar ${mint}: ${problem}`]
  })
}

const oneDollarAttoUsd = 10n ** 18n

/**
 * Returns the error in a price in dollars. One dollar token counts as 1 USD. A sale owes the burn of the token price of
 * the same endpoint, or no burn. The token price comes first in the list.
 */
function findDollarProblem(listed: AuditedPrice, prices: readonly AuditedPrice[]): string | undefined {
  const { endpoint, mint, tokenPriceAttoUsd, tokenBurn, priceMicroUsd } = listed
  if (tokenPriceAttoUsd !== oneDollarAttoUsd) return `a dollar counts as ${tokenPriceAttoUsd} of ${oneDollarAttoUsd}`
  const inToken = prices.find((each) => each.endpoint === endpoint)
  if (inToken === undefined || inToken.mint === mint) return 'no price in the service token comes before it'
  if (inToken.priceMicroUsd !== priceMicroUsd) return `it costs ${inToken.priceMicroUsd} in the service token`
  // A deposit owes no burn, because each request that spends the deposit owes a burn.
  if (isDeposit(listed)) return tokenBurn === undefined ? undefined : 'a deposit owes no burn'
  // Compare with the first price in the mint, because within one dollar token all prices must owe a burn, or none.
  const first = prices.find((each) => each.mint === mint && !isDeposit(each))
  if ((first?.tokenBurn === undefined) !== (tokenBurn === undefined)) return 'only some sales in its mint owe a burn'
  if (tokenBurn === undefined) return undefined
  if (tokenBurn.mint !== inToken.mint) return 'its burn is not in the service token'
  const { burnBaseUnits } = inToken
  return tokenBurn.baseUnits === burnBaseUnits
    ? undefined
    : `it owes a burn of ${tokenBurn.baseUnits}, not ${burnBaseUnits}`
}
