import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { bundleForBrowsers, runInBrowserContext } from '../support/browserBundle.ts'
import { type LocalService, startLocalService } from './packages/localService.ts'
import { browserEntry, type Subject, subjects, typedProgram } from './packages/subjects.ts'
import { proofCommand } from './proofCommand.ts'

/*
 * `npm run proof packages`: packs every publishable package, installs each from its tarball into an empty ESM project
 * and an empty CommonJS project, prints its size, asks publint and attw, and uses it there with Node 20, 22 and 24. The
 * client pays a service in local mode, from each Node and from a browser bundle. Needs the npm registry.
 */

const staging = resolve('.packed')
const command = proofCommand(
  'packages',
  'Packs each publishable package, installs it elsewhere and uses it. Needs the npm registry.',
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

/** Output of a command, or of its failure. A proof goes on after a fault. */
function outcomeOf(command: string, words: readonly string[], cwd: string): { failed: boolean; text: string } {
  try {
    return { failed: false, text: run(command, words, cwd).trim() }
  } catch (error) {
    const output = error instanceof Error && 'stdout' in error && 'stderr' in error ? [error.stdout, error.stderr] : []
    return { failed: true, text: output.length > 0 ? output.join('\n').slice(0, 2_000) : String(error) }
  }
}

function tarball(name: string): string {
  return join(staging, `tollbook-${name}-0.2.0.tgz`)
}

type ModuleSystem = 'module' | 'commonjs'

function install({ name, needs }: Subject, type: ModuleSystem): string {
  const folder = join(root, `${name}-${type}`)
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'empty', version: '1.0.0', type }))
  const tarballs = [name, ...needs].map(tarball)
  run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...tarballs], folder)
  return folder
}

/** The same program for both module systems; only the way to load a package differs. */
function writeProgram({ program }: Subject, folder: string, type: ModuleSystem): void {
  const load = type === 'module' ? '(name) => import(name)' : 'require'
  const local = JSON.stringify(readLocal())
  writeFileSync(
    join(folder, 'try.js'),
    `(async () => {\nconst load = ${load}\nconst local = ${local}\n${program}\n})()`,
  )
}

function readLocal() {
  const path = service.localJsonPath
  const local = JSON.parse(readFileSync(path, 'utf8')) as { demoWallet: { keypairPath: string } }
  const keypairPath = resolve(dirname(path), local.demoWallet.keypairPath)
  return { ...local, demoWallet: { ...local.demoWallet, keypairPath } }
}

function useWithEachNode(subject: Subject, folder: string, type: ModuleSystem): void {
  writeProgram(subject, folder, type)
  for (const version of subject.nodes) {
    const words = ['--yes', '--package', `node@${version}`, '--', 'node', 'try.js']
    const { text } = outcomeOf('npx', words, folder)
    check(`${type === 'module' ? 'ESM' : 'CommonJS'} with Node ${version}`, text === subject.prints, text)
  }
}

async function useInBrowser(folder: string): Promise<void> {
  writeFileSync(join(folder, 'browser.js'), browserEntry)
  const bundle = await bundleForBrowsers(join(folder, 'browser.js'), { minify: true })
  const kilobytes = [bundle.code, gzipSync(bundle.code)].map(({ length }) => Math.round(length / 1000))
  check(`browser bundle of ${kilobytes.join(' kB, compressed ')} kB imports nothing`, bundle.imports.length === 0)
  const { pay } = runInBrowserContext(bundle) as { pay: (local: object, key: readonly number[]) => Promise<string> }
  const local = readLocal()
  const key: number[] = JSON.parse(readFileSync(local.demoWallet.keypairPath, 'utf8'))
  const paid = await pay(local, key).catch((error: unknown) => String(error))
  check('browser bundle pays without any name of Node', paid === '200 true', paid)
  writeFileSync(join(folder, 'typed.ts'), typedProgram)
  const tsc = resolve('node_modules/typescript-native/bin/tsc')
  const options = [
    '--noEmit',
    '--strict',
    '--module',
    'nodenext',
    '--target',
    'es2022',
    '--lib',
    'es2022,dom,dom.iterable',
  ]
  const types = outcomeOf('node', [tsc, ...options, '--types', '', 'typed.ts'], folder)
  check('types compile without those of Node', !types.failed, types.text)
}

async function prove(subject: Subject): Promise<void> {
  const { name, megabytesMax } = subject
  const folders = { module: install(subject, 'module'), commonjs: install(subject, 'commonjs') }
  const megabytes = Number(run('du', ['-sm', 'node_modules'], folders.module).split('\t')[0])
  const packages = readdirSync(join(folders.module, 'node_modules')).length
  process.stdout.write(`\n@tollbook/${name}: ${megabytes} MB installed alone, ${packages} entries in node_modules\n`)
  if (megabytesMax !== undefined) check(`less than ${megabytesMax} MB`, megabytes < megabytesMax)
  useWithEachNode(subject, folders.module, 'module')
  useWithEachNode(subject, folders.commonjs, 'commonjs')
  if (subject.inBrowsers === true) await useInBrowser(folders.module)
  const flaws = outcomeOf('npx', ['publint', tarball(name)], resolve('.'))
  check('publint', !flaws.failed, `\n${flaws.text}`)
  const types = outcomeOf('npx', ['attw', tarball(name), '--profile', 'esm-only', '--no-emoji'], resolve('.'))
  check('attw', !types.failed, `\n${types.text}`)
}

run('npm', ['run', 'pack'], resolve('.'))
const service: LocalService = await startLocalService()
try {
  for (const subject of subjects.filter(({ name }) => chosen.length === 0 || chosen.includes(name)))
    await prove(subject)
} finally {
  await service.stop()
  rmSync(root, { recursive: true, force: true })
}
process.stdout.write(`\n${problems} problems\n`)
process.exitCode = problems === 0 ? 0 : 1
