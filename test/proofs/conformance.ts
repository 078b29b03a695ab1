import '@tollbook/core/quietBindings'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { openEnvironment } from './proofEnvironment.ts'
import { proofCommand } from './proofCommand.ts'
import { spawnServer } from './spawnServer.ts'
import { concludeProof, say } from './verdict.ts'

/*
 * The conformance suite of the Model Context Protocol, with the requirements of 2026-07-28, against a server process.
 * `conformance/expectedFailures.json` lists the checks that fail, by the reason. Another failure breaks the proof, and
 * so does an entry that passes.
 */

proofCommand('conformance', 'The conformance suite of the Model Context Protocol against /mcp.').parse()

const suite = fileURLToPath(new URL('../../node_modules/.bin/conformance', import.meta.url))
const reasons = z
  .record(z.string(), z.array(z.string()))
  .parse(JSON.parse(await readFile(new URL('conformance/expectedFailures.json', import.meta.url), 'utf8')))
// A suite that reaches no server passes nothing, and its failures are the expected ones.
const passedMin = 90
const checks = z.array(z.looseObject({ id: z.string(), status: z.string() }))

await using environment = await openEnvironment()
const server = await spawnServer({ env: environment.env, runsFile: `${environment.directory}/runs` })
const results = join(environment.directory, 'conformance')
say('running the suite')
const url = `${server.baseUrl}/mcp`
const child = spawn(
  process.execPath,
  [suite, 'server', '--url', url, '--requirements', '2026-07-28', '--output-dir', results],
  { stdio: ['ignore', 'ignore', 'inherit'] },
)
await once(child, 'exit')
await server.stop()

const failed = new Set<string>()
let passed = 0
for (const file of await readdir(results, { recursive: true })) {
  if (!file.endsWith('checks.json')) continue
  const scenario = file.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT.*$/, '')
  for (const { id, status } of checks.parse(JSON.parse(await readFile(join(results, file), 'utf8')))) {
    if (status === 'FAILURE') failed.add(`${scenario} ${id}`)
    if (status === 'SUCCESS') passed++
  }
}
const expected = new Set(Object.values(reasons).flat())
const wrong = [
  ...[...failed].filter((check) => !expected.has(check)).map((check) => `fails without a reason: ${check}`),
  ...[...expected].filter((check) => !failed.has(check)).map((check) => `no longer fails: ${check}`),
  ...(passed < passedMin ? [`only ${passed} checks passed`] : []),
]
concludeProof({
  holds: wrong.length === 0,
  lines: [
    `${passed} checks passed, ${failed.size} failed`,
    ...Object.entries(reasons).map(([reason, list]) => `${list.length}: ${reason}`),
    ...wrong,
  ],
})
