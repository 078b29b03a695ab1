import { accountClasses } from './accountClass.ts'
import type { DeclaredKind, DeclaredStep } from './declaredStep.ts'
import { paymentSteps } from './paymentSteps.ts'

/*
 * The rules that the database has to enforce, as this auditor knows them: kinds of streams, and the steps that they may take
 * (docs/ledger.md). A row that was added or changed there would widen what an append accepts without a trace in any event.
 */

const signature = { space: 1, idBytes: 64, idPrefix: '', isSetting: false }
const numbered = { space: 3, idBytes: 0, isSetting: true }

export const declaredKinds: readonly DeclaredKind[] = [
  { kind: 'payment', ...signature },
  { kind: 'payout', ...signature },
  { kind: 'burn', ...signature },
  { kind: 'refund', ...signature, space: 4 },
  { kind: 'holder_payout', ...signature, space: 5, idBytes: 16 },
  { kind: 'price_list', ...numbered, idPrefix: 'prices#' },
  { kind: 'setting', ...numbered, idPrefix: '' },
]

const plain = { moves: [], takesLease: false, isAfterLease: false, writer: 'service', numberMax: undefined } as const
const setting = { ...plain, kind: 'setting', from: '', to: 'set', events: ['SettingChanged'] } as const
const holders = { ...plain, kind: 'holder_payout', writer: 'payout' } as const
const refund = { ...plain, kind: 'refund', writer: 'finance' } as const
const approve = { ...refund, step: 'refund.approve', events: ['RefundApproved'] } as const
const grant = { ...refund, step: 'refund.grant', to: 'granted', events: ['RefundGranted'], moves: ['granted>refund'] }
const debts = ['share', 'overpaid', 'refund', 'unmatched']

const otherSteps: readonly DeclaredStep[] = [
  {
    ...plain,
    kind: 'payout',
    step: 'payout.record',
    from: '',
    to: 'paid',
    events: ['DistributionPaid'],
    moves: debts.map((debt) => `${debt}>wallet`),
    writer: 'payout',
  },
  {
    ...plain,
    kind: 'burn',
    step: 'burn.submit',
    from: '',
    to: 'submitted',
    events: ['BurnSubmitted'],
    writer: 'burner',
  },
  {
    ...plain,
    kind: 'burn',
    step: 'burn.confirm',
    from: 'submitted',
    to: 'confirmed',
    events: ['BurnConfirmed'],
    moves: ['burn_owed>wallet', 'burned>burned_by_callers'],
    writer: 'burner',
  },
  {
    ...plain,
    kind: 'burn',
    step: 'burn.fail',
    from: 'submitted',
    to: 'failed',
    events: ['BurnFailed'],
    writer: 'burner',
  },
  {
    ...plain,
    kind: 'price_list',
    step: 'price_list.publish',
    from: '',
    to: 'published',
    events: ['PriceListPublished'],
  },
  { ...holders, step: 'holder_payout.plan', from: '', to: 'planned', events: ['HolderPayoutPlanned'] },
  { ...holders, step: 'holder_payout.end', from: 'planned', to: 'ended', events: ['HolderPayoutEnded'] },
  // People decide about refunds. A payment is refunded by hand once.
  { ...approve, from: '', to: 'approved' },
  { ...approve, from: 'approved', to: 'approved' },
  { ...approve, from: 'granted', to: 'granted' },
  { ...grant, from: '' },
  { ...grant, from: 'approved' },
  // The service records the first value of a setting, the operator every later one.
  { ...setting, step: 'setting.record', numberMax: 1 },
  { ...setting, step: 'setting.change', writer: 'operator' },
]

export const declaredSteps: readonly DeclaredStep[] = [...paymentSteps, ...otherSteps]

/** Every row as a text without regard to the order of rows and moves: what must be stored, and nothing else. */
export function declaredRows(): ReadonlyMap<string, string> {
  const kinds = declaredKinds.map(({ kind, ...rest }) => [`kind ${kind}`, kindText(rest)] as const)
  const steps = declaredSteps.map((step) => [stepKey(step), stepText(step)] as const)
  const classes = accountClasses.map((known) => [`class ${known.class}`, classText(known)] as const)
  return new Map([...kinds, ...steps, ...classes])
}

export function kindText({ space, idBytes, idPrefix, isSetting }: Omit<DeclaredKind, 'kind'>): string {
  return `space ${space}, ${idBytes} bytes, prefix '${idPrefix}', ${isSetting ? 'a setting' : 'not a setting'}`
}

/** Identifies a step: the same step may start from several states. */
export function stepKey({ step, from, events }: Pick<DeclaredStep, 'step' | 'from' | 'events'>): string {
  return `step ${step} from '${from}' with ${events.join(', ')}`
}

export function stepText(row: Omit<DeclaredStep, 'step' | 'from' | 'events' | 'writer'> & { writer: string }): string {
  const { kind, to, moves, takesLease, isAfterLease, writer, numberMax } = row
  const lease = `${takesLease ? 'takes a lease' : 'no lease'}${isAfterLease ? ' after the lease' : ''}`
  const limit = numberMax === undefined ? '' : `, up to number ${numberMax}`
  return `${kind} to ${to}, moves ${moves.toSorted().join(' ') || 'nothing'}, ${lease}, by ${writer}${limit}`
}

interface ClassRow {
  readonly prefix: string
  readonly isExact: boolean
  readonly floorBaseUnits: bigint | string | undefined
  readonly ceilingBaseUnits: bigint | string | undefined
  readonly isHourly: boolean
}

export function classText({ prefix, isExact, floorBaseUnits, ceilingBaseUnits, isHourly }: ClassRow): string {
  const limits = `from ${floorBaseUnits ?? 'none'} to ${ceilingBaseUnits ?? 'none'}`
  return `${prefix}${isExact ? '' : '*'} ${limits}${isHourly ? ', by the hour' : ''}`
}
