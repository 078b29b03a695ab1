import { type AccountClass, accountClasses } from './accountClass.ts'
import type { DatabaseSource } from './databaseSource.ts'
import type { DeclaredKind, DeclaredStep } from './declaredKind.ts'
import type { Findings } from './findings.ts'
import { kinds } from './kinds.ts'

/*
 * Compares the rules that the database enforces with the rules of this auditor. An added or changed row could permit
 * other appends, and no event would show it.
 */

type KindRow = Omit<DeclaredKind, 'steps'>
type ClassRow = Omit<AccountClass, 'payableTo'>
/** Row of `ledger.steps`. `events` and `moves` may be null in a row that someone added. */
type StepRow = Omit<DeclaredStep, 'events' | 'moves' | 'writer' | 'when'> & {
  readonly kind: string
  readonly events: readonly string[] | null
  readonly moves: readonly string[] | null
  readonly writer: string
}

const kindsQuery = `select kind, space, id_bytes as "idBytes", id_prefix as "idPrefix", is_setting as "isSetting" from ledger.kinds`
const stepsQuery = `select kind, step, from_state as "from", to_state as "to", event_kinds as events, moves,
  lease = 'take' as "takesLease", after_lease as "isAfterLease", writer, number_max as "numberMax" from ledger.steps`
const classesQuery = `select class, prefix, is_exact as "isExact", floor::text, ceiling::text, hourly as "isHourly" from ledger.classes`

/**
 * Compares the declared kinds, steps and classes row by row, in both directions. Skips the rows of unknown kinds.
 * Returns each unknown kind with the events that begin its streams.
 */
export async function matchDeclaration(
  findings: Findings,
  source: DatabaseSource,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const stored = await source.rows<KindRow>(kindsQuery)
  const steps = await source.rows<StepRow>(stepsQuery)
  const classes = await source.rows<ClassRow>(classesQuery)
  const unknown = stored.map(({ kind }) => kind).filter((kind) => !kinds.some((known) => known.kind === kind))
  const ofUnknown = steps.filter(({ kind }) => unknown.includes(kind))
  const moved = new Set(ofUnknown.flatMap(({ moves }) => (moves ?? []).flatMap((move) => move.split('>'))))
  // Skip a class that only unknown kinds move, because a newer release may have added it with them.
  const isTheirs = (row: ClassRow): boolean =>
    moved.has(row.class) && !accountClasses.some((known) => known.class === row.class)
  compareRows(findings, [
    ...stored.filter(({ kind }) => !unknown.includes(kind)).map(kindRow),
    ...steps.filter(({ kind }) => !unknown.includes(kind)).map(stepRow),
    ...classes.filter((row) => !isTheirs(row)).map(classRow),
  ])
  const firstEvents = (kind: string): readonly string[] =>
    ofUnknown.flatMap((step) => (step.kind === kind && step.from === '' ? (step.events ?? []).slice(0, 1) : []))
  return new Map(unknown.map((kind) => [kind, firstEvents(kind)]))
}

type Row = readonly [subject: string, text: string]

function kindRow({ kind, space, idBytes, idPrefix, isSetting }: KindRow): Row {
  return [`kind ${kind}`, JSON.stringify({ space, idBytes, idPrefix, isSetting })]
}

/** Describes a step as a row. A step may start from several states, and the order of its moves has no meaning. */
function stepRow({ kind, step, from, to, events, moves, takesLease, isAfterLease, writer, numberMax }: StepRow): Row {
  const text = { kind, to, moves: moves?.toSorted() ?? null, takesLease, isAfterLease, writer, numberMax }
  return [`step ${step} from '${from}' with ${events?.join(', ')}`, JSON.stringify(text)]
}

function classRow({ class: name, prefix, isExact, floor, ceiling, isHourly }: ClassRow): Row {
  return [`class ${name}`, JSON.stringify({ prefix, isExact, floor, ceiling, isHourly })]
}

function declaredRows(): readonly Row[] {
  const steps = kinds.flatMap(({ kind, steps }) => steps.map((step) => stepRow({ ...step, kind })))
  return [...kinds.map(kindRow), ...steps, ...accountClasses.map(classRow)]
}

function compareRows(findings: Findings, rows: readonly Row[]): void {
  const [declared, stored] = [new Map(declaredRows()), new Map(rows)]
  for (const subject of new Set([...declared.keys(), ...stored.keys()])) {
    const [right, found] = [declared.get(subject) ?? 'nothing', stored.get(subject) ?? 'nothing']
    if (found === right) continue
    const message = `${found} is declared in the database, and this auditor knows ${right}`
    findings.add('declaration_differs', { position: undefined, subject, message })
  }
}
