import { type AuditState, StateDocument } from './auditState.ts'

/** The four aspects of an audit. Each aspect has a separate verdict (docs/audit.md). */
export const aspects = ['integrity', 'arithmetic', 'completeness', 'chainTruth'] as const
export type Aspect = (typeof aspects)[number]

export interface Finding {
  readonly aspect: Aspect
  readonly code: FindingCode
  /** Position of the event with the error. Undefined for an error that belongs to no event, for example in a function. */
  readonly position: number | undefined
  readonly subject: string
  readonly message: string
}

export const findingAspects = {
  leaf_mismatch: 'integrity',
  body_unreadable: 'integrity',
  column_differs: 'integrity',
  recorded_out_of_order: 'integrity',
  export_root_differs: 'integrity',
  checkpoint_malformed: 'integrity',
  checkpoint_root_differs: 'integrity',
  checkpoint_signature_wrong: 'integrity',
  tile_differs: 'integrity',
  declaration_differs: 'integrity',
  function_differs: 'integrity',
  price_wrong: 'arithmetic',
  price_not_published: 'arithmetic',
  setting_wrong: 'arithmetic',
  split_wrong: 'arithmetic',
  payment_short: 'arithmetic',
  burn_differs: 'arithmetic',
  burn_exceeds: 'arithmetic',
  burn_owed_mismatch: 'arithmetic',
  tokens_not_delivered: 'arithmetic',
  distribution_differs: 'arithmetic',
  reversal_differs: 'arithmetic',
  refund_differs: 'arithmetic',
  payout_exceeds: 'arithmetic',
  holder_payout_differs: 'arithmetic',
  exposure_differs: 'arithmetic',
  lifecycle_impossible: 'arithmetic',
  kind_unknown: 'arithmetic',
  attempt_wrong: 'arithmetic',
  owner_differs: 'arithmetic',
  posting_differs: 'arithmetic',
  posting_missing: 'arithmetic',
  posting_unexpected: 'arithmetic',
  account_differs: 'arithmetic',
  tally_differs: 'arithmetic',
  report_differs: 'arithmetic',
  ledger_unbalanced: 'arithmetic',
  position_missing: 'completeness',
  version_missing: 'completeness',
  append_incomplete: 'completeness',
  head_differs: 'completeness',
  tree_too_small: 'completeness',
  export_incomplete: 'completeness',
  stream_differs: 'completeness',
  stream_missing: 'completeness',
  stream_unexpected: 'completeness',
  setting_differs: 'completeness',
  key_differs: 'completeness',
  quote_differs: 'completeness',
  not_in_the_ledger: 'completeness',
  transaction_bytes_wrong: 'chainTruth',
  transaction_contradicts: 'chainTruth',
  transaction_failed: 'chainTruth',
  transaction_unknown: 'chainTruth',
  tabs_not_covered: 'chainTruth',
} as const satisfies Record<string, Aspect>

export type FindingCode = keyof typeof findingAspects

/** Codes that do not break a verdict, because they report a limit of this auditor and not an error in the ledger. */
const unjudged: ReadonlySet<string> = new Set<FindingCode>(['kind_unknown'])

export function isUnjudged({ code }: Finding): boolean {
  return unjudged.has(code)
}

/** Maximum of stored findings for each aspect, so that a broken ledger does not fill the memory. Counts stay exact. */
const storedMax = 100

interface FoundSoFar {
  readonly stored: Finding[]
  readonly counts: Map<FindingCode, number>
  readonly firsts: Map<Aspect, Finding>
}

const storedFindings = new StateDocument('findings', (): FoundSoFar => {
  return { stored: [], counts: new Map(), firsts: new Map() }
})

/** Counts and the first finding of each aspect are exact, even if the finding itself is not stored. */
export class Findings {
  readonly #state: AuditState

  constructor(state: AuditState) {
    this.#state = state
  }

  add(code: FindingCode, { position, subject, message }: FindingPlace): void {
    const { stored, counts, firsts } = storedFindings.of(this.#state)
    const finding: Finding = { aspect: findingAspects[code], code, position, subject, message }
    const { aspect } = finding
    counts.set(code, (counts.get(code) ?? 0) + 1)
    const first = firsts.get(aspect)
    const isFirst = first === undefined || isEarlier(finding, first)
    if (isFirst && !unjudged.has(code)) firsts.set(aspect, finding)
    if (this.of(aspect).length < storedMax) stored.push(finding)
  }

  of(aspect: Aspect): readonly Finding[] {
    return storedFindings.of(this.#state).stored.filter((finding) => finding.aspect === aspect)
  }

  all(): readonly Finding[] {
    return storedFindings.of(this.#state).stored
  }

  first(aspect: Aspect): Finding | undefined {
    return storedFindings.of(this.#state).firsts.get(aspect)
  }

  countOf(aspect: Aspect): number {
    return this.#count((code) => findingAspects[code] === aspect && !unjudged.has(code))
  }

  unjudgedCount(): number {
    return this.#count((code) => unjudged.has(code))
  }

  #count(isCounted: (code: FindingCode) => boolean): number {
    return [...storedFindings.of(this.#state).counts].reduce(
      (sum, [code, count]) => sum + (isCounted(code) ? count : 0),
      0,
    )
  }
}

export interface FindingPlace {
  readonly position: number | undefined
  readonly subject: string
  readonly message: string
}

function isEarlier(one: Finding, other: Finding): boolean {
  return (one.position ?? Infinity) < (other.position ?? Infinity)
}
