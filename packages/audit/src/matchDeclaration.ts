import type { DatabaseSource } from './databaseSource.ts'
import { classText, declaredRows, kindText, stepKey, stepText } from './declaration.ts'
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

/** The rules that the database enforces against those that this auditor knows, row by row in both directions. */
export async function matchDeclaration(findings: Findings, source: DatabaseSource): Promise<void> {
  const rows = [...(await readKinds(source)), ...(await readSteps(source)), ...(await readClasses(source))]
  const declared = declaredRows()
  const stored = new Map(rows)
  for (const subject of new Set([...declared.keys(), ...stored.keys()])) {
    const [right, found] = [declared.get(subject) ?? 'nothing', stored.get(subject) ?? 'nothing']
    if (found === right) continue
    const message = `${found} is declared in the database, and this auditor knows ${right}`
    findings.add('declaration_differs', { position: undefined, subject, message })
  }
}

type Row = readonly [subject: string, text: string]

async function readKinds(source: DatabaseSource): Promise<readonly Row[]> {
  const rows = await source.rows<KindRow>('select kind, space, id_bytes, id_prefix, is_setting from ledger.kinds')
  return rows.map(({ kind, space, id_bytes: idBytes, id_prefix: idPrefix, is_setting: isSetting }) => {
    return [`kind ${kind}`, kindText({ space, idBytes, idPrefix, isSetting })]
  })
}

async function readSteps(source: DatabaseSource): Promise<readonly Row[]> {
  const rows = await source.rows<StepRow>(
    'select step, from_state, event_kinds, kind, to_state, lease, after_lease, moves, writer, number_max from ledger.steps',
  )
  return rows.map((row) => {
    const { step, kind, from_state: from, to_state: to, lease, writer } = row
    const [events, moves] = [row.event_kinds ?? ['null'], row.moves ?? ['null']]
    const [takesLease, isAfterLease, numberMax] = [lease === 'take', row.after_lease, row.number_max ?? undefined]
    return [stepKey({ step, from, events }), stepText({ kind, to, moves, takesLease, isAfterLease, writer, numberMax })]
  })
}

async function readClasses(source: DatabaseSource): Promise<readonly Row[]> {
  const rows = await source.rows<ClassRow>('select class, prefix, is_exact, floor, ceiling, hourly from ledger.classes')
  return rows.map((row) => {
    const [floor, ceiling] = [row.floor ?? undefined, row.ceiling ?? undefined]
    const limits = { floorBaseUnits: floor, ceilingBaseUnits: ceiling, isHourly: row.hourly }
    return [`class ${row.class}`, classText({ prefix: row.prefix, isExact: row.is_exact, ...limits })]
  })
}
