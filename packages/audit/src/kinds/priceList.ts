import { z } from 'zod'
import { usd } from '../body.ts'
import { declareStep } from '../declaredKind.ts'
import { price } from '../price.ts'
import { findShareProblem, findSplitProblem, split } from '../split.ts'
import { type AuditedKind, bodyOf, eventOf, type Judged } from './auditedKind.ts'
import { countSetting, settingId } from './setting.ts'

// Do not check the readings of markets: they move no money, and nothing else in the ledger depends on them.
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

const published = bodyOf('PriceListPublished', {
  evidence: evidence.optional(),
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
  for (const listed of event.prices) {
    const problem = listed.problem ?? findShareProblem(listed, event.split)
    if (problem !== undefined) blame('price_wrong', `${listed.endpoint}: ${problem}`)
  }
  ledger.periods.noteSplit(event.split, at)
  ledger.prices.publish({ number, split: event.split, prices: event.prices.map(({ digest }) => digest), recordedAtMs })
}
