import { spawnSync } from 'node:child_process'
import { chmod, copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { assert, assertPresent } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { makeTemporaryDirectory } from '../../support/temporaryDirectory.ts'
import { createNode, type Node, nodeNumbers, password } from './node.ts'
import { killProgram, startProgram } from './programs.ts'

/** Three nodes and HAProxy, from the files of deploy/patroni. */
export interface Cluster extends AsyncDisposable {
  readonly directory: string
  readonly nodes: readonly Node[]
  /** Through HAProxy, as one of the roles of create-roles.sh. */
  databaseUrl(role: string): string
  primary(): Promise<Node>
  synchronousStandby(): Promise<Node>
  /** Returns when a primary runs with two streaming standbys, one of them synchronous unless it is off. */
  awaitHealthy(options?: { readonly synchronous: boolean }): Promise<void>
  switchOver(): Promise<void>
  setSynchronous(on: boolean): Promise<void>
}

const balancerAddress = '127.0.2.1'
const healthyWithinMs = 60_000
const pollEveryMs = 500
const linesShown = 20

const memberList = z.object({
  members: z.array(z.object({ name: z.string(), role: z.string(), state: z.string(), lag: z.unknown().optional() })),
})
type Members = z.infer<typeof memberList>['members']

export async function openCluster(postgresDirectory: string): Promise<Cluster> {
  await using opened = new AsyncDisposableStack()
  const directory = await makeTemporaryDirectory()
  opened.defer(directory.remove)
  const { path } = directory
  await placeFiles(path)
  const nodes = nodeNumbers.map((number) => createNode({ number, directory: path, postgresDirectory }))
  for (const node of nodes) {
    node.startEtcd()
    opened.defer(() => node.killEtcd())
  }
  for (const node of nodes) {
    node.startPatroni()
    opened.defer(() => node.kill())
  }
  const addresses = Object.fromEntries(nodes.map(({ address }, index) => [`NODE_${index + 1}`, address]))
  const balancer = startProgram({
    command: ['haproxy', '-db', '-f', `${path}/haproxy.cfg`],
    environment: { BIND: balancerAddress, ...addresses },
    logFile: `${path}/haproxy.log`,
  })
  opened.defer(() => killProgram(balancer))
  const cluster = operate(path, nodes)
  try {
    await cluster.awaitHealthy()
  } catch (error) {
    for (const number of nodeNumbers) process.stderr.write(await lastLines(`${path}/patroni-${number}.log`))
    throw error
  }
  const disposables = opened.move()
  return { ...cluster, [Symbol.asyncDispose]: () => disposables.disposeAsync() }
}

async function lastLines(file: string): Promise<string> {
  const lines = (await readFile(file, 'utf8')).split('\n').slice(-linesShown)
  return `${file}:\n${lines.join('\n')}\n`
}

/** The files as they are shipped; only paths differ, because the three machines are one. */
async function placeFiles(directory: string): Promise<void> {
  const shipped = (name: string) => fileURLToPath(new URL(`../../../deploy/patroni/${name}`, import.meta.url))
  const configuration = (await readFile(shipped('patroni.yml'), 'utf8')).replaceAll('/etc/patroni/', `${directory}/`)
  for (const number of nodeNumbers) {
    const sockets = `${directory}/sockets-${number}`
    await mkdir(sockets)
    const own = `  use_unix_socket: true\n  parameters:\n    unix_socket_directories: ${sockets}`
    const local = configuration.replace('  use_unix_socket: true', own)
    await writeFile(`${directory}/patroni-${number}.yml`, local)
  }
  for (const name of ['create-roles.sh', 'haproxy.cfg']) await copyFile(shipped(name), `${directory}/${name}`)
  await chmod(`${directory}/create-roles.sh`, 0o755)
  spawnSync('chown', ['-R', 'postgres:postgres', directory])
}

function operate(directory: string, nodes: readonly Node[]): Omit<Cluster, typeof Symbol.asyncDispose> {
  const nodeOf = (name: string | undefined) =>
    assertPresent(
      nodes.find((node) => node.name === name),
      'a member of the cluster is one of our nodes',
    )
  const find = async (roles: readonly string[]) => {
    const members = await awaitMembers(nodes, (all) => all.some(({ role }) => roles.includes(role)))
    return nodeOf(members.find(({ role }) => roles.includes(role))?.name)
  }
  return {
    directory,
    nodes,
    databaseUrl: (role) => `postgres://${role}:${password}@${balancerAddress}:5432/tollbook`,
    primary: () => find(['leader']),
    synchronousStandby: () => find(['sync_standby']),
    async awaitHealthy({ synchronous } = { synchronous: true }) {
      await awaitMembers(nodes, (members) => isHealthy(members, synchronous))
    },
    async switchOver() {
      const leader = await find(['leader'])
      const response = await askPatroni(leader, '/switchover', { leader: leader.name })
      if (!response.ok) throw new Error(`the switchover was refused: ${await response.text()}`)
    },
    async setSynchronous(on) {
      const leader = await find(['leader'])
      const change = { synchronous_mode: on, synchronous_mode_strict: on }
      const response = await askPatroni(leader, '/config', change)
      if (!response.ok) throw new Error(`the configuration was refused: ${await response.text()}`)
    },
  }
}

function isHealthy(members: Members, synchronous: boolean): boolean {
  const standbys = members.filter(
    ({ role, state, lag }) => role !== 'leader' && (state === 'streaming' || state === 'running') && lag === 0,
  )
  const hasLeader = members.some(({ role, state }) => role === 'leader' && state === 'running')
  const hasSynchronous = members.some(({ role }) => role === 'sync_standby')
  return hasLeader && standbys.length === nodeNumbers.length - 1 && hasSynchronous === synchronous
}

async function awaitMembers(nodes: readonly Node[], isSo: (members: Members) => boolean): Promise<Members> {
  const deadlineMs = systemClock.monotonicMs() + healthyWithinMs
  for (;;) {
    const members = await readMembers(nodes)
    if (members !== undefined && isSo(members)) return members
    assert(systemClock.monotonicMs() < deadlineMs, `the cluster is in the awaited state: ${JSON.stringify(members)}`)
    await systemClock.sleep(pollEveryMs)
  }
}

/** The first node that answers tells about all. */
async function readMembers(nodes: readonly Node[]): Promise<Members | undefined> {
  for (const { address } of nodes) {
    try {
      const response = await fetch(`http://${address}:8008/cluster`, { signal: AbortSignal.timeout(1_000) })
      return memberList.parse(await response.json()).members
    } catch {
      // It is down or frozen.
    }
  }
  return undefined
}

function askPatroni({ address }: Node, path: string, body: object): Promise<Response> {
  const method = path === '/config' ? 'PATCH' : 'POST'
  return fetch(`http://${address}:8008${path}`, { method, body: JSON.stringify(body) })
}
