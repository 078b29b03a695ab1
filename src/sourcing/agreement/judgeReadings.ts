import { assert } from '@tollbook/core/assert'
import { familyOf, fieldsApart, type Figures, sharedFields, type Tolerances } from './figures.ts'

/** The figures that one source reports about an item. */
export interface Reading {
  readonly source: string
  readonly figures: Figures
  /** Undefined: the source does not report the time. */
  readonly asOfMs: number | undefined
  /** Reason why this answer is sold only if another source confirms its main figure. */
  readonly doubt?: string | undefined
  /** True if the source's own series confirms the reading, so that no other source is needed. */
  readonly isContinuous?: boolean | undefined
  /** False for a source without a complete answer. Such a source only confirms the answers of others. */
  readonly isComplete: boolean
}

/** A product's rule for answers that must agree before they are sold. */
export interface AgreementRule {
  /** The field, or family of fields, that another source or the last known value should confirm, such as the price. */
  readonly main: string
  readonly tolerances: Tolerances
  /**
   * Distances from the last known value within which it confirms an answer. Never smaller than the tolerance, because
   * the known value may come from another source.
   */
  readonly jumps: Tolerances
  /** The field with the daily change in per cent, for products that have one. */
  readonly move?: string
}

/** Evidence besides the readings themselves. */
export interface Evidence {
  /** Undefined if nothing was sold recently. */
  readonly lastKnown: Figures | undefined
  /** True if several sources have the item. One of them alone is then not sold without a last known value. */
  readonly needsSecond: boolean
}

export type Judgement =
  | AgreedReading
  /** `differ`: the sources contradict each other. `doubted`: one source alone is not enough. */
  | { readonly kind: 'differ' | 'doubted' }
  /** No source has a complete answer. */
  | { readonly kind: 'none' }

/** The reading that is sold, and its comparison with the other readings. */
export interface AgreedReading {
  /** `agreed`: two sources or more. `last_known`: one source, near the last known value. `single`: one source. */
  readonly kind: 'agreed' | 'last_known' | 'single'
  readonly sold: Reading
  /** Readings that agree with the sold one, which comes first. */
  readonly near: readonly Reading[]
  readonly apart: readonly { readonly reading: Reading; readonly fields: readonly string[] }[]
  /** Fields that neither another source nor the last known value confirms. */
  readonly unconfirmed: readonly string[]
  /** True if no family has more than half of its fields in `unconfirmed`. */
  readonly isConfirmed: boolean
}

// A daily change above 30 % is more often an unadjusted split, another unit or another coin than news.
export const movePercentMax = 30

/** True for a large daily change. It requires that every source is queried and that none contradicts it. */
export function isLargeMove({ figures }: Reading, { move }: AgreementRule): boolean {
  const percent = move === undefined ? 0 : figures[move]
  return typeof percent === 'number' && Math.abs(percent) > movePercentMax
}

/**
 * Returns the first complete reading without a contradicted field. A field is contradicted if at least as many sources
 * differ from it as agree, counting the reading itself. Neither of two sources that differ is sold. Aggregators copy
 * from each other, so they cannot outvote the exchanges. Any one source can contradict a large daily change.
 */
export function judgeReadings(readings: readonly Reading[], rule: AgreementRule, evidence: Evidence): Judgement {
  const complete = readings.filter(({ isComplete }) => isComplete)
  if (complete.length === 0) return { kind: 'none' }
  const uncontradicted = complete.filter((reading) => !isContradicted(reading, readings, rule))
  if (uncontradicted.length === 0) return { kind: 'differ' }
  for (const sold of uncontradicted) {
    const agreed = agreedOn({ sold, readings, rule }, evidence)
    if (agreed !== undefined) return agreed
  }
  return { kind: 'doubted' }
}

function isContradicted(reading: Reading, readings: readonly Reading[], rule: AgreementRule): boolean {
  const judges = readings
    .filter((other) => other !== reading)
    .map((other) => ({ ...other, apart: new Set(fieldsApart(reading.figures, other.figures, rule.tolerances)) }))
  const needsAll = isLargeMove(reading, rule) ? [rule.main, rule.move] : []
  return Object.keys(reading.figures).some((field) => {
    const judging = judges.filter(({ figures }) => field in figures)
    const apart = judging.filter((judge) => judge.apart.has(field))
    const witnesses = judging.filter(({ isComplete }) => !isComplete)
    if (apart.length === 0) return false
    if (needsAll.includes(field)) return true
    if (witnesses.length > 0 && witnesses.every((witness) => witness.apart.has(field))) return true
    return judging.length - apart.length + 1 <= apart.length
  })
}

interface Candidate {
  readonly sold: Reading
  readonly readings: readonly Reading[]
  readonly rule: AgreementRule
}

/** Undefined if the evidence does not allow selling the reading. */
function agreedOn(
  { sold, readings, rule }: Candidate,
  { lastKnown, needsSecond }: Evidence,
): AgreedReading | undefined {
  const fields = Object.keys(sold.figures)
  assert(
    fields.some((field) => familyOf(field) === rule.main),
    'a complete reading has the main figure',
  )
  const others = readings.filter((other) => other !== sold)
  const compared = others.map((reading) => {
    return { reading, fields: fieldsApart(sold.figures, reading.figures, rule.tolerances) }
  })
  const near = compared.filter(({ fields }) => fields.length === 0).map(({ reading }) => reading)
  const byOthers = new Set(compared.flatMap(({ reading, fields }) => nearFields(sold, reading, new Set(fields))))
  const open = fields.filter((field) => !byOthers.has(field))
  const jumped = lastKnown === undefined ? [] : fieldsApart(sold.figures, lastKnown, rule.jumps)
  if (open.some((field) => jumped.includes(field))) return undefined
  const unconfirmed = open.filter((field) => lastKnown === undefined || !(field in lastKnown))
  const isAgreed = !familiesMostlyIn(open, fields).includes(rule.main)
  const isLone = needsSecond && lastKnown === undefined && sold.isContinuous !== true
  if (!isAgreed && (sold.doubt !== undefined || isLone)) return undefined
  return {
    kind: isAgreed ? 'agreed' : lastKnown === undefined ? 'single' : 'last_known',
    sold,
    near: [sold, ...near],
    apart: compared.filter(({ fields }) => fields.length > 0),
    unconfirmed,
    isConfirmed: familiesMostlyIn(unconfirmed, fields).length === 0,
  }
}

function nearFields(sold: Reading, other: Reading, apart: ReadonlySet<string>): readonly string[] {
  return sharedFields(sold.figures, other.figures).filter((field) => !apart.has(field))
}

/** Returns the families that have more than half of their fields in `part`. */
function familiesMostlyIn(part: readonly string[], fields: readonly string[]): readonly string[] {
  const counts = Map.groupBy(fields, familyOf)
  return [...Map.groupBy(part, familyOf)]
    .filter(([family, own]) => own.length * 2 > (counts.get(family)?.length ?? 0))
    .map(([family]) => family)
}
