import { execFile, spawnSync } from 'node:child_process'
import { appendFile, cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { assertPresent } from '@tollbook/core/assert'

/** A copy of the Compose project, as an operator has it after `git clone`. */
export interface Stack {
  readonly directory: string
  /** The command of Compose: the plugin of Docker, or docker-compose 1.29 where the plugin is missing. */
  compose(...words: string[]): Promise<Ran>
  docker(...words: string[]): Promise<Ran>
  /** The container of a service. */
  container(service: string): Promise<Container>
  /** Each file of deploy/secrets that has something in it. */
  secrets(): Promise<ReadonlyMap<string, string>>
  writeSecret(name: string, text: string): Promise<void>
  /** Adds lines to `.env`. */
  addSettings(settings: Settings): Promise<void>
  /** Address of this machine in a network of the stack. */
  gateway(network: string): Promise<string>
}

type Settings = Readonly<Record<string, string>>

export interface Ran {
  readonly exitCode: number
  readonly output: string
}

export interface Container {
  readonly id: string
  readonly name: string
  readonly pid: number
  readonly restarts: number
  readonly health: string
  /** All that `docker inspect` shows. */
  readonly inspected: string
}

export interface StackOptions {
  readonly directory: string
  readonly overrides: readonly string[]
  /** Ends a command of Compose or Docker that still runs. */
  readonly deadline: AbortSignal
}

const project = 'tollbook-proof'
const root = fileURLToPath(new URL('../../../', import.meta.url))
/** Files that the Dockerfile and the Compose file read. */
const parts = ['package.json', 'package-lock.json', '.npmrc', '.dockerignore', 'Dockerfile', 'docker-compose.yml']
const folders = ['deploy', 'migrations', 'packages', 'src']
const outputBytesMax = 64 * 1024 * 1024

/** Undefined when Docker answers; otherwise what is missing. */
export function whyNoDocker(): string | undefined {
  if (spawnSync('docker', ['info', '--format', '{{.ServerVersion}}']).status !== 0)
    return 'no Docker engine answers (DOCKER_HOST)'
  if (composeCommand() === undefined) return 'there is neither `docker compose` nor docker-compose'
  return spawnSync('openssl', ['version']).status === 0 ? undefined : 'there is no openssl, which makes the certificate'
}

export async function createStack({ directory, overrides, deadline }: StackOptions): Promise<Stack> {
  for (const part of parts) await cp(join(root, part), join(directory, part))
  for (const folder of folders)
    await cp(join(root, folder), join(directory, folder), { recursive: true, filter: (path) => !isOwn(path) })
  const files = ['docker-compose.yml', ...overrides.map((path) => basename(path))]
  for (const path of overrides) await cp(path, join(directory, basename(path)))
  const run = runnerIn(directory, deadline)
  const [program = '', ...first] = assertPresent(composeCommand(), 'there is Compose')
  const fileWords = files.flatMap((file) => ['--file', file])
  const compose = (...words: string[]) => run(program, [...first, ...fileWords, '--project-name', project, ...words])
  const docker = (...words: string[]) => run('docker', words)
  assertRan(await run('sh', ['deploy/init.sh']))
  return {
    directory,
    compose,
    docker,
    container: (service) => findContainer(docker, service),
    secrets: () => readSecrets(join(directory, 'deploy/secrets')),
    writeSecret: (name, text) => writeFile(join(directory, 'deploy/secrets', name), text),
    addSettings: (settings) => appendFile(join(directory, '.env'), linesOf(settings)),
    gateway: (network) => findGateway(docker, network),
  }
}

/** Stops the stack and removes its data, also after the deadline. */
export async function removeStack(stack: Stack, words: readonly string[]): Promise<void> {
  await composeAfterDeadline(stack, words)
}

/** The newest lines that the instances and the database logged. */
export function readLogs(stack: Stack): Promise<Ran> {
  return composeAfterDeadline(stack, ['logs', '--no-color', '--tail', '12', 'api-1', 'api-2', 'postgres'])
}

function composeAfterDeadline({ directory }: Stack, words: readonly string[]): Promise<Ran> {
  const [program = '', ...first] = assertPresent(composeCommand(), 'there is Compose')
  const run = runnerIn(directory, new AbortController().signal)
  return run(program, [...first, '--project-name', project, ...words])
}

function linesOf(settings: Settings): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('')
}

async function findGateway(docker: Stack['docker'], network: string): Promise<string> {
  const format = '{{(index .IPAM.Config 0).Gateway}}'
  return assertRan(await docker('network', 'inspect', '--format', format, `${project}_${network}`)).trim()
}

/** Folders of an operator, and of packages that the image installs itself. */
function isOwn(path: string): boolean {
  return /\/(node_modules|deploy\/secrets|deploy\/service\.env)$/.test(path)
}

function composeCommand(): readonly string[] | undefined {
  const candidates = [['docker', 'compose'], ['docker-compose']]
  return candidates.find(([program = '', ...words]) => spawnSync(program, [...words, 'version']).status === 0)
}

function runnerIn(cwd: string, signal: AbortSignal) {
  return (program: string, words: readonly string[]): Promise<Ran> =>
    new Promise((resolve) => {
      execFile(program, words, { cwd, signal, maxBuffer: outputBytesMax }, (error, stdout, stderr) => {
        const exitCode = error === null ? 0 : typeof error.code === 'number' ? error.code : 1
        resolve({ exitCode, output: stdout + stderr })
      })
    })
}

export function assertRan({ exitCode, output }: Ran): string {
  if (exitCode !== 0) throw new Error(`exit code ${exitCode}: ${output.slice(-2_000)}`)
  return output
}

const inspectedShape = z.tuple([
  z.looseObject({
    Name: z.string(),
    RestartCount: z.int(),
    State: z.looseObject({ Pid: z.int(), Health: z.looseObject({ Status: z.string() }).optional() }),
  }),
])

async function findContainer(docker: Stack['docker'], service: string): Promise<Container> {
  const filters = [`label=com.docker.compose.project=${project}`, `label=com.docker.compose.service=${service}`]
  const listed = await docker('ps', '--all', '--quiet', ...filters.flatMap((filter) => ['--filter', filter]))
  const id = assertPresent(assertRan(listed).split('\n')[0], `the service ${service} has a container`)
  const inspected = assertRan(await docker('inspect', id))
  const [{ Name, RestartCount, State }] = inspectedShape.parse(JSON.parse(inspected))
  const health = State.Health?.Status ?? 'none'
  return { id, name: Name.slice(1), pid: State.Pid, restarts: RestartCount, health, inspected }
}

async function readSecrets(folder: string): Promise<ReadonlyMap<string, string>> {
  await mkdir(folder, { recursive: true })
  const names = await readdir(folder)
  const texts = await Promise.all(
    names.map(async (name) => [name, await readFile(join(folder, name), 'utf8')] as const),
  )
  return new Map(texts.filter(([, text]) => text.trim() !== ''))
}
