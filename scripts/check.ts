import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { performance } from 'node:perf_hooks'

/*
 * `npm run check`: all checks that need no test run. As many at once as there are processors, the longest first; the
 * output of each is printed when it ends.
 */

const checks: readonly (readonly [name: string, command: string])[] = [
  // Apart: the type check is incremental, and the lint infers types again even in one program.
  ['lint', 'node scripts/lint.ts'],
  ['types', 'node --run types'],
  ['imports', 'node scripts/checkImports.ts'],
  ['dead code', 'knip'],
  ['tidy', 'node scripts/tidy.ts'],
  ['prose', 'node scripts/prose.ts'],
  ['commits', 'node scripts/commits.ts'],
  ['format', 'oxfmt --check src packages test bench scripts && node scripts/wrapComments.ts --check'],
]

const processors = availableParallelism()
/*
 * Lint and types are programs of Go, which start as many threads as there are processors, and lint then infers types in
 * each. Half of the processors for each takes a fifth less processor time on two. If each can have 3 GiB, which neither
 * fills, also in a container, no garbage is collected: another fifth. Elsewhere it is collected a quarter as often as
 * by default.
 */
const memory = process.availableMemory() > 7 * 2 ** 30 ? { GOGC: 'off', GOMEMLIMIT: '3GiB' } : { GOGC: '400' }
const goLimits = { GOMAXPROCS: String(Math.ceil(processors / 2)), ...memory }

function run([name, command]: (typeof checks)[number]): Promise<boolean> {
  const startedAtMs = performance.now()
  return new Promise((resolve, reject) => {
    const child = spawn(command, {
      shell: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...goLimits },
    })
    const output: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => output.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => output.push(chunk))
    child.on('error', reject)
    child.on('close', (code) => {
      const seconds = ((performance.now() - startedAtMs) / 1000).toFixed(1)
      process.stdout.write(
        `${code === 0 ? 'ok    ' : 'FAILED'} ${name}, ${seconds} s\n${Buffer.concat(output).toString()}`,
      )
      resolve(code === 0)
    })
  })
}

const waiting = [...checks]
async function work(): Promise<boolean> {
  let isGood = true
  for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) isGood = (await run(check)) && isGood
  return isGood
}

const results = await Promise.all(Array.from({ length: processors }, work))
process.exitCode = results.every(Boolean) ? 0 : 1
