import type { DatabaseSource } from './databaseSource.ts'
import { classText, declaredKinds, declaredRows, kindText, stepKey, stepText } from './declaration.ts'
import { accountClasses } from './accountClass.ts'
import type { Findings } from './findings.ts'

interface KindRow {
  readonly kind: string
  readonly space: number
  readonly id_bytes: number
  readonly id_prefix: string
  readonly is_setting: boolean
}

interface StepRow {
  readonly step: string
  readonly from_state: string
  readonly event_kinds: readonly string[] | null
  readonly kind: string
  readonly to_state: string
  readonly lease: string
  readonly after_lease: boolean
  readonly moves: readonly string[] | null
  readonly writer: string
  readonly number_max: number | null
}

interface ClassRow {
  readonly class: string
  readonly prefix: string
  readonly is_exact: boolean
  readonly floor: string | null
  readonly ceiling: string | null
  readonly hourly: boolean
}

/**
 * The rules that the database enforces against those that this auditor knows, row by row in both directions. The rows of a kind
 * that is not known are one thing: returns each such kind with the events that begin its streams.
 */
export async function matchDeclaration(
  findings: Findings,
  source: DatabaseSource,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const kinds = await source.rows<KindRow>('select kind, space, id_bytes, id_prefix, is_setting from ledger.kinds')
  const steps = await source.rows<StepRow>(
    'select step, from_state, event_kinds, kind, to_state, lease, after_lease, moves, writer, number_max from ledger.steps',
  )
  const classes = await source.rows<ClassRow>(
    'select class, prefix, is_exact, floor, ceiling, hourly from ledger.classes',
  )
  const unknown = new Set(kinds.map(({ kind }) => kind).filter((kind) => !isKnownKind(kind)))
  const isOfUnknown = ({ kind }: StepRow): boolean => unknown.has(kind)
  const moved = new Set(
    steps.filter(isOfUnknown).flatMap(({ moves }) => (moves ?? []).flatMap((move) => move.split('>'))),
  )
  const isTheirs = ({ class: name }: ClassRow): boolean => !isKnownClass(name) && moved.has(name)
  const rows = [
    ...kinds.filter(({ kind }) => !unknown.has(kind)).map(kindRow),
    ...steps.filter((step) => !isOfUnknown(step)).map(stepRow),
    ...classes.filter((row) => !isTheirs(row)).map(classRow),
  ]
  compareRows(findings, new Map(rows))
  return new Map([...unknown].map((kind) => [kind, firstEventsOf(steps.filter((step) => step.kind === kind))]))
}

const isKnownKind = (kind: string): boolean => declaredKinds.some((known) => known.kind === kind)
const isKnownClass = (name: string): boolean => accountClasses.some((known) => known.class === name)

function firstEventsOf(steps: readonly StepRow[]): readonly string[] {
  return steps.flatMap(({ from_state: from, event_kinds: events }) => (from === '' ? (events ?? []).slice(0, 1) : []))
}

function compareRows(findings: Findings, stored: ReadonlyMap<string, string>): void {
  const declared = declaredRows()
  for (const subject of new Set([...declared.keys(), ...stored.keys()])) {
    const [right, found] = [declared.get(subject) ?? 'nothing', stored.get(subject) ?? 'nothing']
    if (found === right) continue
    const message = `${found} is declared in the database, and this auditor knows ${right}`
    findings.add('declaration_differs', { position: undefined, subject, message })
  }
}

type Row = readonly [subject: string, text: string]

function kindRow({ kind, space, id_bytes: idBytes, id_prefix: idPrefix, is_setting: isSetting }: KindRow): Row {
  return [`kind ${kind}`, kindText({ space, idBytes, idPrefix, isSetting })]
}

function stepRow(row: StepRow): Row {
  const { step, kind, from_state: from, to_state: to, lease, writer } = row
  const [events, moves] = [row.event_kinds ?? ['null'], row.moves ?? ['null']]
  const [takesLease, isAfterLease, numberMax] = [lease === 'take', row.after_lease, row.number_max ?? undefined]
  return [stepKey({ step, from, events }), stepText({ kind, to, moves, takesLease, isAfterLease, writer, numberMax })]
}

function classRow(row: ClassRow): Row {
  const [floor, ceiling] = [row.floor ?? undefined, row.ceiling ?? undefined]
  const limits = { floorBaseUnits: floor, ceilingBaseUnits: ceiling, isHourly: row.hourly }
  return [`class ${row.class}`, classText({ prefix: row.prefix, isExact: row.is_exact, ...limits })]
}
