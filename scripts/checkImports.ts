import { createRequire } from 'node:module'
import { cruise, type ICruiseResult } from 'dependency-cruiser'
import extractTypeScriptConfig from 'dependency-cruiser/config-utl/extract-ts-config'
import { z } from 'zod'

/*
 * Holds the import rules of .dependency-cruiser.cjs, and a floor on the modules seen: with a compiler that it does not
 * know, dependency-cruiser sees no TypeScript at all, finds no violation in it, and says so in green.
 */
const modulesMin = 1_100

const rules = z.object({ forbidden: z.array(z.unknown()), options: z.record(z.string(), z.unknown()) })
const { forbidden, options } = rules.parse(createRequire(import.meta.url)('../.dependency-cruiser.cjs'))

const { output } = await cruise(
  ['src', 'packages'],
  { ...options, ruleSet: JSON.parse(JSON.stringify({ forbidden })), validate: true },
  undefined,
  { tsConfig: extractTypeScriptConfig('tsconfig.json') },
)
if (typeof output === 'string') throw new Error('dependency-cruiser gives its result as an object')
process.exitCode = report(output) ? 0 : 1

function report({ modules, summary }: ICruiseResult): boolean {
  const own = modules.filter(({ source }) => /^(src|packages)\//.test(source))
  const cycles = summary.violations.filter(({ rule }) => rule.name.endsWith('cycles'))
  for (const { rule, from, to } of summary.violations) process.stderr.write(`${rule.name}: ${from} -> ${to}\n`)
  process.stdout.write(
    `imports: ${own.length} modules, ${cycles.length} cycles, ${summary.violations.length} violations\n`,
  )
  if (own.length < modulesMin)
    process.stderr.write(
      `only ${own.length} modules were seen, at least ${modulesMin} exist: the rules were not checked\n`,
    )
  return summary.violations.length === 0 && own.length >= modulesMin
}
