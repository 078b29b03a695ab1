import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { parseWords } from './proofWords.ts'
import { proofs } from './proofs.ts'
import { notRunExitCode, say } from './verdict.ts'

/*
 * One command for all proofs: `npm run proof` lists them, `npm run proof race rails` runs them one after the other, and
 * what follows `--` goes to the program of each. Ends with 1 when one is broken, and with 2 when one could not run.
 */

interface Ended {
  readonly name: string
  readonly code: number
}

function list(): void {
  process.stdout.write(
    'npm run proof NAME [NAME ...] [-- options]     --help after -- shows the options of a proof\n\n',
  )
  for (const [name, { about, programs }] of Object.entries(proofs)) {
    process.stdout.write(`  ${name.padEnd(12)}${about}\n`)
    const names = Object.keys(programs)
    if (names.length > 1) process.stdout.write(`${' '.repeat(14)}${names.join(', ')}\n`)
  }
}

async function run(name: string, file: string, options: readonly string[]): Promise<Ended> {
  const child = spawn(process.execPath, [fileURLToPath(new URL(file, import.meta.url)), ...options], {
    stdio: 'inherit',
  })
  const [code] = await once(child, 'exit')
  return { name, code: typeof code === 'number' ? code : 1 }
}

function verdictOf(code: number): string {
  if (code === 0) return 'holds'
  return code === notRunExitCode ? 'not run' : 'BROKEN'
}

const words = parseWords(process.argv.slice(2))
if (words.kind === 'list') list()
if (words.kind === 'unknown') {
  process.stderr.write(`There is no proof "${words.name}". \`npm run proof\` lists all.\n`)
  process.exitCode = 1
}
if (words.kind === 'run') {
  const ended: Ended[] = []
  for (const { name, file } of words.programs) ended.push(await run(name, file, words.options))
  if (ended.length > 1) for (const { name, code } of ended) say(`${name.padEnd(14)}${verdictOf(code)}`)
  const isBroken = ended.some(({ code }) => verdictOf(code) === 'BROKEN')
  process.exitCode = isBroken ? 1 : Math.max(...ended.map(({ code }) => code))
}
