import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { proofCommand } from './proofCommand.ts'

/*
 * `npm run proof:packages`: packs every publishable package, installs each from its tarball into an empty folder, prints
 * its size and its tree, asks publint and attw, and runs it there with Node 20, 22 and 24. Needs the npm registry.
 */

interface Subject {
  readonly name: string
  /** Tarballs installed together, because none of them is in a registry. */
  readonly needs: readonly string[]
  /** Runs in the empty folder; its output must equal `prints`. */
  readonly program: string
  readonly prints: string
  readonly nodes: readonly string[]
}

const allNodes = ['20', '22', '24']
const subjects: readonly Subject[] = [
  {
    name: 'core',
    needs: [],
    program: `import { sha256Hex } from '@tollbook/core/digest'
import { emptyRoot } from '@tollbook/core/merkle'
console.log(sha256Hex('') === Buffer.from(emptyRoot).toString('hex'))`,
    prints: 'true',
    nodes: allNodes,
  },
  {
    name: 'client',
    needs: ['core'],
    program: `import { createPayingFetch, verifyReceipt } from '@tollbook/client'
const verdict = await verifyReceipt({ receipt: {}, keys: { keys: [] } })
console.log(typeof createPayingFetch, verdict.valid)`,
    prints: 'function false',
    nodes: allNodes,
  },
  {
    name: 'audit',
    needs: [],
    program: `import { execFileSync } from 'node:child_process'
const help = execFileSync('node', ['node_modules/@tollbook/audit/dist/main.js', '--help'], { encoding: 'utf8' })
console.log(help.includes('--json'))`,
    prints: 'true',
    nodes: allNodes,
  },
  {
    name: 'localnet',
    needs: ['core'],
    program: `import { startLocalChain } from '@tollbook/localnet'
import { silentLog } from '@tollbook/localnet/log'
const chain = await startLocalChain({ port: 0, slotMs: 100, log: silentLog })
const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getHealth' })
const answer = await fetch(chain.rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
console.log((await answer.json()).result)
await chain.close()`,
    prints: 'ok',
    // The chain compresses account data with zstd, which Node has since 22.15.
    nodes: ['22', '24'],
  },
  {
    name: 'ledger',
    needs: ['core'],
    program: `import { createMemoryLedger } from '@tollbook/ledger/memoryLedger'
console.log(typeof createMemoryLedger)`,
    prints: 'function',
    nodes: allNodes,
  },
]

const staging = resolve('.packed')
const command = proofCommand(
  'packages',
  'Packs each publishable package, installs it elsewhere and runs it. Needs the npm registry.',
)
  .allowExcessArguments()
  .usage('[package ...]')
const chosen = command.parse().args

const root = mkdtempSync(join(tmpdir(), 'tollbook-packages-'))
let problems = 0

function run(command: string, words: readonly string[], cwd: string): string {
  return execFileSync(command, [...words], { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}

function check(what: string, holds: boolean, detail = ''): void {
  if (!holds) problems += 1
  process.stdout.write(`${holds ? 'ok   ' : 'FAULT'} ${what}${detail === '' ? '' : `: ${detail}`}\n`)
}

/** Runs a command that reports through its exit code. Returns its output when it failed. */
function failureOf(command: string, words: readonly string[], cwd: string): string {
  try {
    run(command, words, cwd)
    return ''
  } catch (error) {
    return error instanceof Error && 'stdout' in error ? String(error.stdout) : String(error)
  }
}

function tarball(name: string): string {
  return join(staging, `tollbook-${name}-0.1.0.tgz`)
}

function install({ name, needs }: Subject): string {
  const folder = join(root, name)
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'empty', version: '1.0.0', type: 'module' }))
  const tarballs = [name, ...needs].map(tarball)
  run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...tarballs], folder)
  return folder
}

function nodeProgram(version: string): readonly string[] {
  return ['--yes', '--package', `node@${version}`, '--', 'node']
}

function prove(subject: Subject): void {
  const { name, program, prints, nodes } = subject
  const folder = install(subject)
  const megabytes = Number(run('du', ['-sm', 'node_modules'], folder).split('\t')[0])
  const packages = readdirSync(join(folder, 'node_modules')).length
  process.stdout.write(`\n@tollbook/${name}: ${megabytes} MB installed alone, ${packages} entries in node_modules\n`)
  writeFileSync(join(folder, 'try.mjs'), program)
  for (const version of nodes) {
    const printed = run('npx', [...nodeProgram(version), 'try.mjs'], folder).trim()
    check(`runs with Node ${version}`, printed === prints, printed)
  }
  check('publint', failureOf('npx', ['publint', tarball(name)], resolve('.')) === '')
  const flaws = failureOf('npx', ['attw', tarball(name), '--profile', 'esm-only', '--no-emoji'], resolve('.'))
  check('attw', flaws === '', flaws.slice(0, 2_000))
}

run('npm', ['run', 'pack'], resolve('.'))
for (const subject of subjects.filter(({ name }) => chosen.length === 0 || chosen.includes(name))) prove(subject)
rmSync(root, { recursive: true, force: true })
process.stdout.write(`\n${problems} problems\n`)
process.exitCode = problems === 0 ? 0 : 1
