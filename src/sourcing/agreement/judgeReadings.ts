import { assert } from '@tollbook/core/assert'
import { familyOf, fieldsApart, type Figures, sharedFields, type Tolerances } from './figures.ts'

export interface Reading {
  readonly source: string
  readonly figures: Figures
  /** Time of the figures, in milliseconds since 1970. Undefined: the source does not report a time. */
  readonly asOfMs: number | undefined
  /**
   * Reason to doubt this answer. The answer is then sold only if another source confirms the main figure. Undefined: no
   * doubt.
   */
  readonly doubt?: string | undefined
  /** True if the source's own series confirms the reading. The reading can then be sold without another source. */
  readonly isContinuous?: boolean | undefined
  /**
   * False for a source that never has a complete answer, such as an exchange. The source then only confirms the answers
   * of others.
   */
  readonly isComplete: boolean
}

export interface AgreementRule {
  /**
   * The field, or family of fields, that must be confirmed by another source or by the last known value. Example: the
   * price.
   */
  readonly main: string
  readonly tolerances: Tolerances
  /**
   * Largest difference from the last known value at which this value confirms an answer. Never smaller than the
   * tolerance, because the last known value may come from another source.
   */
  readonly jumps: Tolerances
  /** Name of the field with the daily change in per cent. Absent: the product has no such field. */
  readonly move?: string
}

export interface Evidence {
  /** The last sold figures on which sources agreed, or those of an item's only source. Undefined: none recently. */
  readonly lastKnown: Figures | undefined
  /** True if several sources have the item. A single reading then needs a last known value, or a series of its source. */
  readonly needsSecond: boolean
}

export type Judgement =
  | AgreedReading
  /**
   * `differ`: every complete reading is contradicted by other sources. `doubted`: a reading without contradiction lacks
   * confirmation.
   */
  | { readonly kind: 'differ' | 'doubted' }
  | { readonly kind: 'none' }

export interface AgreedReading {
  /**
   * `agreed`: other sources confirm at least half of the main family. `last_known`: only the last known value confirms
   * it. `single`: no other evidence confirms it.
   */
  readonly kind: 'agreed' | 'last_known' | 'single'
  readonly sold: Reading
  /** The sold reading, followed by the readings that agree with it. */
  readonly near: readonly Reading[]
  readonly apart: readonly { readonly reading: Reading; readonly fields: readonly string[] }[]
  /** Fields of the sold reading that neither another source nor the last known value confirms. */
  readonly unconfirmed: readonly string[]
  /** True if at least half of the fields of every family are confirmed. */
  readonly isConfirmed: boolean
}

// A larger daily change, in per cent, is more often an unadjusted split, another unit or another coin than real news.
export const movePercentMax = 30

/** True if the daily change exceeds `movePercentMax`, so that the reading needs more evidence. */
export function isLargeMove({ figures }: Reading, { move }: AgreementRule): boolean {
  const percent = move === undefined ? 0 : figures[move]
  return typeof percent === 'number' && Math.abs(percent) > movePercentMax
}

/** Chooses the reading to sell: the first complete reading that has enough evidence and no contradicted field. */
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

/**
 * True if, for one field, at least as many sources differ as agree, or all exchanges differ. All exchanges together
 * outweigh the aggregators, because aggregators copy from each other. After a large daily change, one source that
 * differs in the main figure or in the change is enough.
 */
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

/** Undefined if the evidence does not allow selling the candidate. */
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

function familiesMostlyIn(part: readonly string[], fields: readonly string[]): readonly string[] {
  const counts = Map.groupBy(fields, familyOf)
  return [...Map.groupBy(part, familyOf)]
    .filter(([family, own]) => own.length * 2 > (counts.get(family)?.length ?? 0))
    .map(([family]) => family)
}
