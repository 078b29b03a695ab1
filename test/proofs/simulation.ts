import { simulate } from '../simulation/simulate.ts'
import { readSchemaRules } from '../simulation/simulatedPostgres.ts'
const rules = await readSchemaRules()
const [from, to] = [Number(process.argv[2] ?? 1), Number(process.argv[3] ?? process.argv[2] ?? 20)]
const started = Date.now()
let bad = 0
for (let seed = from; seed <= to; seed++) {
  const t = Date.now()
  const report = await simulate({ seed, rules, isTraced: from === to })
  if (from === to) process.stdout.write(report.trace.join('\n') + '\n')
  if (report.violations.length > 0) bad++
  process.stdout.write(`${seed}: ${report.steps} steps ${report.payments} payments ${report.presentations} presentations ${report.judged.length} items ${Date.now() - t} ms ${report.violations.slice(0, 4).join('\n      ')}\n`)
}
process.stdout.write(`${bad} bad, ${Date.now() - started} ms\n`)
