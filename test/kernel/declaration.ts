import { readdir, readFile } from 'node:fs/promises'
import { assert, assertPresent, Bug } from '@tollbook/core/assert'

/**
 * Declared transitions of streams, as in the rows of migrations/kinds. The in-memory ledger and the tests of the
 * deciders use them.
 */
export interface Declaration {
  readonly kinds: readonly Kind[]
  readonly steps: readonly Step[]
  readonly classes: readonly AccountClass[]
}

/** A stream kind, as a row of `ledger.kinds`. */
export interface Kind {
  readonly kind: string
  readonly space: number
  readonly idBytes: number
  readonly idPrefix: string
  readonly isSetting: boolean
}

/** A permitted transition, as a row of `ledger.steps`. */
export interface Step {
  readonly step: string
  readonly kind: string
  readonly fromState: string
  readonly toState: string
  readonly eventKinds: readonly string[]
  readonly lease: 'none' | 'take'
  readonly afterLease: boolean
  /** Permitted movements, each as `debited class>credited class`. */
  readonly moves: readonly string[]
  readonly writer: string
  readonly numberMax: number | undefined
}

/** Limits of the accounts whose names begin with a prefix, as a row of `ledger.classes`. */
export interface AccountClass {
  readonly class: string
  readonly prefix: string
  readonly isExact: boolean
  readonly floorBaseUnits: bigint | undefined
  readonly ceilingBaseUnits: bigint | undefined
  readonly hourly: boolean
}

/** Reads the declaration from a folder of SQL files, as `tollbook migrate` applies it. */
export async function readDeclaration(folder: string): Promise<Declaration> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.sql')).sort()
  assert(files.length > 0, `${folder} holds declarations`)
  return parseDeclaration(await Promise.all(files.map((file) => readFile(`${folder}/${file}`, 'utf8'))))
}

/** Reads the rows of declaring SQL files without a database. Ignores other statements in the files. */
export function parseDeclaration(texts: readonly string[]): Declaration {
  const rows = (table: string) => texts.flatMap((text) => rowsOf(text, `ledger.${table}`))
  return {
    kinds: rows('kinds').map((row): Kind => ({
      kind: text(row['kind']),
      space: Number(row['space']),
      idBytes: Number(row['id_bytes'] ?? 0),
      idPrefix: text(row['id_prefix'] ?? ''),
      isSetting: row['is_setting'] === true,
    })),
    steps: rows('steps').map(stepOf),
    classes: rows('classes').map((row): AccountClass => ({
      class: text(row['class']),
      prefix: text(row['prefix']),
      isExact: row['is_exact'] === true,
      floorBaseUnits: limit(row['floor']),
      ceilingBaseUnits: limit(row['ceiling']),
      hourly: row['hourly'] === true,
    })),
  }
}

function stepOf(row: Row): Step {
  return {
    step: text(row['step']),
    kind: text(row['kind']),
    fromState: text(row['from_state']),
    toState: text(row['to_state']),
    eventKinds: list(row['event_kinds']),
    lease: row['lease'] === 'take' ? 'take' : 'none',
    afterLease: row['after_lease'] === true,
    moves: list(row['moves'] ?? '{}'),
    writer: text(row['writer'] ?? 'service'),
    numberMax: typeof row['number_max'] === 'number' ? row['number_max'] : undefined,
  }
}

type Value = string | number | boolean | null
type Row = Readonly<Record<string, Value>>

const insertStatement = /insert into (ledger\.\w+) \(([^)]*)\) values\s([\s\S]*?)\non conflict/g
const literal = /'(?:[^']|'')*'|-?\d+|true|false|null|[()]/g

/** Reads the rows of one table's plain inserts: text, whole numbers, booleans and null. */
function rowsOf(sql: string, table: string): readonly Row[] {
  const statements = [...sql.replace(/^\s*--.*$/gm, '').matchAll(insertStatement)]
  return statements.flatMap(([, into, names = '', values = '']) =>
    into === table ? tuples(values).map((tuple) => rowOf(names.split(', '), tuple)) : [],
  )
}

function rowOf(names: readonly string[], tuple: readonly Value[]): Row {
  assert(tuple.length === names.length, `a row of the declaration has ${names.length} values`)
  return Object.fromEntries(names.map((name, index) => [name, assertValue(tuple[index])]))
}

function assertValue(value: Value | undefined): Value {
  if (value === undefined) throw new Bug('expected that a row of the declaration is whole')
  return value
}

function tuples(values: string): readonly (readonly Value[])[] {
  const found: Value[][] = []
  for (const [word] of values.matchAll(literal)) {
    if (word === '(') found.push([])
    else if (word !== ')') assertPresent(found.at(-1), 'a value is in a row').push(valueOf(word))
  }
  return found
}

function valueOf(word: string): Value {
  if (word === 'null') return null
  if (word === 'true' || word === 'false') return word === 'true'
  return word.startsWith("'") ? word.slice(1, -1).replaceAll("''", "'") : Number(word)
}

function text(value: Value | undefined): string {
  if (typeof value !== 'string') throw new Bug('expected that the declaration has a text here')
  return value
}

function list(value: Value | undefined): readonly string[] {
  const inside = text(value).slice(1, -1)
  return inside === '' ? [] : inside.split(',')
}

function limit(value: Value | undefined): bigint | undefined {
  return typeof value === 'number' ? BigInt(value) : undefined
}
