import { type Body, bodyOf, type Leaf } from './body.ts'

/** One changed body of a provider. */
export interface FieldFault {
  readonly kind: 'field' | 'identity' | 'unit' | 'time' | 'split' | 'extreme'
  readonly name: string
  readonly text: string
}

/** The parts of a provider's body that faults of several fields need. */
export interface BodyFacts {
  /** Paths of amounts in the sold currency or unit. */
  readonly amounts: RegExp
  /** Paths of the current value among them. */
  readonly current: RegExp
  /** Amounts are temperatures, so that other units are offsets and no factors. */
  readonly isTemperature?: boolean
}

/**
 * All faults of a body, by rule: each leaf with each change that its type allows, and changes of several leaves at
 * once.
 */
export function fieldFaults(text: string, facts: BodyFacts): readonly FieldFault[] {
  const body = bodyOf(text)
  const faults = [...body.leaves.flatMap((leaf) => leafFaults(body, leaf)), ...recordFaults(body, facts)]
  return [...faults, ...listFaults(body)].filter((fault) => fault.text !== text)
}

/** Long lists of lists are rows, which are alike. */
const listsMax = 12

function listFaults(body: Body): readonly FieldFault[] {
  return body.lists.slice(0, listsMax).flatMap(({ path, value }) => {
    const changes: readonly (readonly [string, unknown])[] = [
      ['an empty list', []],
      ['every item twice', [...value, ...value]],
      ['the first item twice', [value[0], ...value]],
      ['the list backwards', value.toReversed()],
      ['without its last item', value.slice(0, -1)],
      ['its first item alone', value[0]],
      ['a list in a list', [value]],
    ]
    return changes.map(([name, other]): FieldFault => {
      return { kind: 'field', name: `${path}: ${name}`, text: body.print(new Map([[path, other]])) }
    })
  })
}

type Change = readonly [kind: FieldFault['kind'], name: string, value: unknown]

function leafFaults(body: Body, leaf: Leaf): readonly FieldFault[] {
  return changesOf(leaf.value).map(([kind, name, value]) => ({
    kind,
    name: `${leaf.path}: ${name}`,
    text: body.print(new Map([[leaf.path, value]])),
  }))
}

function changesOf(value: unknown): readonly Change[] {
  const gone: readonly Change[] = [
    ['field', 'null', null],
    ['field', 'absent', undefined],
  ]
  const time = shiftedTimes(value)
  if (time.length > 0) return [...gone, ...time]
  const number = readNumber(value)
  if (number !== undefined) return [...gone, ...numberChanges(value, number)]
  return typeof value === 'string' ? [...gone, ...textChanges(value)] : gone
}

function numberChanges(value: unknown, number: number): readonly Change[] {
  const put = (other: number) => writeNumber(value, other)
  return [
    ['field', 'of the other type', typeof value === 'number' ? String(value) : number],
    ['field', 'NaN as text', 'NaN'],
    ['extreme', 'zero', put(0)],
    ['extreme', 'negative', put(-number)],
    ['extreme', '1e12', put(1e12)],
    ['extreme', '1e308', put(1e308)],
    ['extreme', '1e-20', put(1e-20)],
    ['field', 'with an exponent', (number / 10).toExponential()],
    ['field', 'Infinity as text', 'Infinity'],
    ['field', 'with a comma for the point', String(number).replace('.', ',')],
    ['unit', 'times 1000', put(number * 1_000)],
    ['unit', 'by 1000', put(number / 1_000)],
    ['unit', 'times 100', put(number * 100)],
    ['unit', 'by 100', put(number / 100)],
    ['field', '15 % more', put(number * 1.15)],
  ]
}

/** Other spellings of identities and units; what is in none of them is replaced by a word. */
const swaps: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^(bitcoin|btc|BTC|Bitcoin|btc-bitcoin)$/, ['ethereum', 'eth', 'ETH', 'wrapped-bitcoin']],
  [/^(AAPL|AAPL\.US)$/, ['MSFT', 'AAPL.L', 'MSFT.US', 'AAP']],
  [/^9xTokenMint/, ['So11111111111111111111111111111111111111112', '9xtokenmint1111111111111111111111111111111p']],
  [/^(USD|GBp)$/, ['EUR', 'GBP', 'GBp', 'JPY']],
  [/^(celsius|°C|wmoUnit:degC)$/, ['fahrenheit', '°F', 'wmoUnit:degF', 'K']],
  [/^(%|wmoUnit:percent)$/, ['fraction', '1']],
  [/^(Show HN: An AI thing|AI news|New AI law passes first reading)$/, ['Quantum firm opens UK lab']],
  [
    /^https?:\/\//,
    ['http://169.254.169.254/', 'http://localhost/', 'javascript:alert(1)', 'https://user@192.168.1.1/'],
  ],
]

function textChanges(value: string): readonly Change[] {
  const swapped = swaps.find(([pattern]) => pattern.test(value))?.[1] ?? []
  return [
    ['field', 'empty', ''],
    ['field', 'another text', 'something else'],
    ['field', 'a number', 7],
    ['field', 'of 5,000 characters', 'x'.repeat(5_000)],
    ['identity', 'in letters of another script', value.replaceAll('A', 'А').replaceAll('B', 'В').replaceAll('o', 'о')],
    ['identity', 'with a mark of direction', `\u202e${value}`],
    ['identity', 'with a NUL', `${value}\0`],
    ['field', 'in another case', value === value.toLowerCase() ? value.toUpperCase() : value.toLowerCase()],
    ...swapped.map((other): Change => ['identity', other, other]),
  ]
}

const minute = 60_000
const day = 24 * 60 * minute
const shifts: readonly (readonly [string, number])[] = [
  ['an hour older', -60 * minute],
  ['a day older', -day],
  ['three days older', -3 * day],
  ['a year older', -365 * day],
  ['a day ahead', day],
]

/** Seconds of this decade, an ISO time, GDELT's stamps and the dates of RSS are times. */
function shiftedTimes(value: unknown): readonly Change[] {
  const changes = shifts.map(([name, shiftMs]): Change => ['time', name, shiftTime(value, shiftMs)])
  if (changes[0]?.[2] === value) return []
  return [...changes, ['time', 'no time', 'yesterday'], ['time', 'zero', 0], ...otherSpellings(value)]
}

function otherSpellings(value: unknown): readonly Change[] {
  if (typeof value === 'number')
    return [
      ['time', 'in milliseconds', value * 1_000],
      ['time', 'in minutes', Math.round(value / 60)],
      ['time', 'as text', String(value)],
    ]
  const text = String(value)
  return [
    ['time', 'of another zone', text.replace(/(Z|\+00:00)$/, '+09:00').replace(/GMT$/, '+0900')],
    ['time', 'a leap second of last year', '2025-12-31T23:59:60Z'],
    ['time', 'in seconds', Math.floor(Date.parse(text) / 1_000)],
    ['time', 'of 2099', '2099-01-01T00:00:00Z'],
  ]
}

/** The same time in the same spelling, moved; any other value as it is. */
export function shiftTime(value: unknown, shiftMs: number): unknown {
  if (typeof value === 'number')
    return value > 1.7e9 && value < 1.9e9 && Number.isInteger(value) ? value + Math.round(shiftMs / 1_000) : value
  if (typeof value !== 'string') return value
  const iso = (ms: number) => new Date(ms).toISOString()
  if (/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|\+00:00)$/.test(value)) return iso(Date.parse(value) + shiftMs)
  if (/^\d{4}-\d{2}-\d{2}$/.test(value)) return iso(Date.parse(value) + shiftMs).slice(0, 10)
  const [, stamp] = /^(\d{8}T\d{6})Z$/.exec(value) ?? []
  if (stamp !== undefined) {
    const parsed = Date.parse(value.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z'))
    return iso(parsed + shiftMs).replaceAll(/[-:]|\.\d{3}/g, '')
  }
  if (/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} .* GMT$/.test(value))
    return new Date(Date.parse(value) + shiftMs).toUTCString()
  if (/^[A-Z][a-z]{2} \d{1,2}, \d{4}$/.test(value)) {
    const moved = new Date(Date.parse(`${value} UTC`) + shiftMs)
    return moved.toLocaleDateString('en-US', { month: 'short', day: 'numeric', year: 'numeric', timeZone: 'UTC' })
  }
  return value
}

/** Records that are consistent and wrong. */
function recordFaults(body: Body, { amounts, current, isTemperature = false }: BodyFacts): readonly FieldFault[] {
  const all = body.leaves.filter(({ path, value }) => amounts.test(path) && readNumber(value) !== undefined)
  const now = all.filter(({ path }) => current.test(path))
  const change = (leaves: readonly Leaf[], by: (value: number) => number) =>
    body.print(new Map(leaves.map(({ path, value }) => [path, writeNumber(value, by(readNumber(value) ?? 0))])))
  const times = (days: number) => {
    const moved = body.leaves.map(({ path, value }): [string, unknown] => [path, shiftTime(value, days * day)])
    return body.print(new Map(moved))
  }
  const old: readonly FieldFault[] = [-1, -3, -30, 1].map((days) => {
    return { kind: 'time', name: `all times ${days} days`, text: times(days) }
  })
  if (isTemperature)
    return [
      ...old,
      { kind: 'unit', name: 'Fahrenheit as Celsius', text: change(all, (value) => (value * 9) / 5 + 32) },
      { kind: 'unit', name: 'Kelvin as Celsius', text: change(all, (value) => value + 273.15) },
    ]
  const factors: readonly (readonly [FieldFault['kind'], string, number])[] = [
    ['unit', 'euros as dollars', 0.86],
    ['unit', 'cents as dollars', 100],
    ['unit', 'dollars as cents', 0.01],
    ['identity', 'the figures of another item', 0.035],
    ['extreme', 'a million times as much', 1e6],
  ]
  const splits: readonly (readonly [string, number])[] = [
    ['a split of 10', 0.1],
    ['a split of 4', 0.25],
    ['a split of 3 for 2', 2 / 3],
    ['a reverse split of 10', 10],
  ]
  return [
    ...old,
    ...factors.map(([kind, name, factor]) => ({ kind, name, text: change(all, (value) => value * factor) })),
    ...splits.map(([name, factor]): FieldFault => {
      return { kind: 'split', name: `${name}, the rest unadjusted`, text: change(now, (value) => value * factor) }
    }),
  ]
}

const written = /^([-+]?)(\$?)([\d,]*\.?\d+)(%?)$/

/** Numbers as JSON and as providers write them: `$267.44`, `+1.25`, `45,018,260`, `+0.47%`. */
function readNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return value
  const [, sign, , digits] = written.exec(typeof value === 'string' ? value : '') ?? []
  return digits === undefined ? undefined : Number(digits.replaceAll(',', '')) * (sign === '-' ? -1 : 1)
}

function writeNumber(like: unknown, value: number): unknown {
  if (typeof like === 'number') return Number(value.toPrecision(12))
  const [, sign, dollar = '', digits = '', percent = ''] = written.exec(String(like)) ?? []
  const plain = digits.includes(',')
    ? Math.round(Math.abs(value)).toLocaleString('en-US')
    : String(Number(Math.abs(value).toPrecision(12)))
  const shown = value < 0 ? '-' : sign === '' ? '' : '+'
  return `${shown}${dollar}${plain}${percent}`
}
