import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { execFileSync } from 'node:child_process'

/** Test files that reach a source file by their imports. */
export interface RelatedTests {
  /** Those that need no database. */
  readonly pure: readonly string[]
  /** A few seeds of the simulation, where it runs the file. */
  readonly simulated: readonly string[]
  /** Those that need a database. */
  readonly real: readonly string[]
  /**
   * Those that need more: of the rails for the rails, some purchases for the paywall, and of payouts, burns and
   * clients.
   */
  readonly served: readonly string[]
}

/** Written into the copy of the repository only: `npm test` has more seeds of the same. */
export const simulationTest = 'test/simulation/mutant.unit.test.ts'
const simulation = 'test/simulation/simulate.ts'

export interface TestMap {
  relatedTo(file: string): RelatedTests
}

const served =
  /^test\/((rails|payout|burn|client)\/.*|e2e\/(paidRequest|storedAnswers|idempotency))\.(e2e|chain)\.test\.ts$/
const besides = /^test\/(payout|burn|client)\//
// They import nearly everything, and judge the architecture or the commands; the seeds of the simulation are a stage.
const loadsAll = /^test\/simulation\/|\.arch\.|loadCommands/
const sameLetters = 4
const importPattern = /(?:from|import)\s*\(?\s*'([^']+)'/g

export function mapTests(root: string): TestMap {
  const listed = execFileSync('git', ['ls-files', 'test'], { cwd: root, encoding: 'utf8' }).split('\n')
  const tests = listed.filter(
    (path) => (/\.(unit|property|pg)\.test\.ts$/.test(path) || served.test(path)) && !loadsAll.test(path),
  )
  const imports = new Map<string, readonly string[]>()
  const importsOf = (path: string): readonly string[] => {
    const known = imports.get(path)
    if (known !== undefined) return known
    const found = [...readFileSync(join(root, path), 'utf8').matchAll(importPattern)].flatMap(([, name = '']) =>
      resolveImport(root, path, name),
    )
    imports.set(path, found)
    return found
  }
  /** Files that the test reaches, with the number of imports on the way. */
  const reachOf = (test: string): ReadonlyMap<string, number> => {
    const reached = new Map([[test, 0]])
    for (const [path, depth] of reached)
      for (const next of importsOf(path)) if (!reached.has(next)) reached.set(next, depth + 1)
    return reached
  }
  const reaches = tests.map((test) => ({ test, reached: reachOf(test) }))
  const simulated = reachOf(simulation)
  return {
    relatedTo(file) {
      if (file.endsWith('.sql')) return { pure: [], simulated: [], real: testsOfSql(file), served: [] }
      const beside = file
        .replace(/^packages\/ledger\/.*/, 'test/kernel/')
        .replace(/^(src|packages)\/([^/]+)\/.*/, 'test/$2/')
      const isBeside = (test: string) => test.startsWith(beside)
      // sealStore.ts and seal.pg.test.ts, paymentStore.ts and payments.pg.test.ts.
      const name = basename(file).slice(0, sameLetters)
      const hasName = (test: string) => basename(test).startsWith(name)
      // Tests run the bundled script of a page, so no import leads to its modules.
      const bundled = file.startsWith('src/pages/browser/')
        ? tests.filter((test) => test.startsWith('test/pages/'))
        : []
      const near = reaches
        .flatMap(({ test, reached }) => {
          const depth = reached.get(file)
          return depth === undefined ? [] : [{ test, depth }]
        })
        .toSorted(
          (one, other) =>
            Number(isBeside(other.test)) - Number(isBeside(one.test)) ||
            Number(hasName(other.test)) - Number(hasName(one.test)) ||
            one.depth - other.depth ||
            (one.test < other.test ? -1 : 1),
        )
        .map(({ test }) => test)
      const folder = file.startsWith('src/rails/')
        ? /^test\/rails\//
        : file.startsWith('src/paywall/')
          ? /^test\/e2e\//
          : besides
      return {
        pure: [...new Set([...bundled, ...near])].filter((test) => !/\.(pg|e2e|chain)\./.test(test)),
        simulated: simulated.has(file) ? [simulationTest] : [],
        real: near.filter((test) => test.includes('.pg.')),
        served: near.filter((test) => served.test(test) && folder.test(test)),
      }
    },
  }
}

// SQL is not imported, so its tests are named here: the first row whose pattern fits a path.
const sqlTests: readonly (readonly [path: RegExp, tests: readonly string[]])[] = [
  [/sql\/append/, ['kernel/append', 'kernel/writers', 'kernel/property', 'kernel/hostileAppend', 'kernel/rawAppend']],
  [/sql\/history/, ['store/olderLedger', 'kernel/append', 'store/checkpointFile']],
  [/sql\/(end_notes|forget_old_notes)/, ['kernel/notes', 'store/payments', 'store/idempotencyKeys']],
  [/sql\/follow/, ['kernel/follow', 'store/openWorkPages', 'store/payments']],
  [/sql\/next_time/, ['kernel/clock', 'kernel/rawAppend', 'kernel/hostileAppend']],
  [/sql\/(read|add_partitions)/, ['kernel/append', 'kernel/partitions', 'kernel/property']],
  [/functions\/(payouts|burns|base58)/, ['kernel/writers', 'kernel/hostileAppend', 'kernel/secondDefence']],
  [/functions\/settings/, ['kernel/writers', 'store/settings', 'cli/settingChange', 'kernel/hostileAppend']],
  [/functions\/quotes/, ['store/quoteRetention', 'store/priceLists', 'store/payments']],
  [/functions\/transfer_scans/, ['store/election']],
  [/kinds\//, ['kernel/secondDefence', 'kernel/append', 'store/payments', 'kernel/property']],
]

function testsOfSql(file: string): readonly string[] {
  const [, tests = []] = sqlTests.find(([path]) => path.test(file)) ?? []
  return tests.map((name) => `test/${name}.pg.test.ts`)
}

function resolveImport(root: string, from: string, name: string): readonly string[] {
  const scoped = /^@tollbook\/([a-z]+)\/(.+)$/.exec(name)
  const path =
    scoped === null
      ? name.startsWith('.')
        ? relative(root, resolve(root, dirname(from), name))
        : undefined
      : `packages/${scoped[1]}/src/${scoped[2]}.ts`
  return path !== undefined && path.endsWith('.ts') && existsSync(join(root, path)) ? [path] : []
}
