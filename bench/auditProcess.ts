import { audit } from '../src/audit/audit.ts'
import { systemClock } from '../src/primitives/clock.ts'
import { assert } from '../src/primitives/assert.ts'

// One audit in a process of its own, as the command line makes it, so that its memory is nobody else's.
const [url, transactions] = process.argv.slice(2)
assert(url !== undefined, 'the database to audit is given')
const report = await audit({
  source: { kind: 'database', url },
  verifierKeys: [],
  keptCheckpoints: [],
  transactions: transactions !== 'no-transactions',
  chain: undefined,
  resumeFile: undefined,
  clock: systemClock,
})
const { events, durationMs, findings } = report
const { maxRSS: maxRssKb } = process.resourceUsage()
process.stdout.write(`${JSON.stringify({ events, durationMs, findings: findings.length, maxRssKb })}\n`)
