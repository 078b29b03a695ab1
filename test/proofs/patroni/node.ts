import type { ChildProcess } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { killProgram, startProgram } from './programs.ts'

/** One of the three machines: an address of loopback with Postgres under Patroni, and a member of etcd. */
export interface Node {
  readonly name: string
  readonly address: string
  startEtcd(): void
  killEtcd(): Promise<void>
  startPatroni(): void
  /** Patroni and Postgres end at once, as if the machine lost its power. */
  kill(): Promise<void>
  /** kill -9 of Postgres; Patroni goes on. */
  killPostgres(): void
  /** Patroni and Postgres stand still. */
  freeze(): void
  thaw(): void
  /** WAL no longer leaves this machine. */
  freezeSenders(): void
}

export interface NodeOptions {
  readonly number: number
  readonly directory: string
  readonly postgresDirectory: string
}

export const nodeNumbers = [1, 2, 3] as const
const addressOf = (number: number): string => `127.0.1.${number}`
export const password = 'only-in-this-network-namespace'

export function createNode({ number, directory, postgresDirectory }: NodeOptions): Node {
  const name = `node-${number}`
  const address = addressOf(number)
  const dataDirectory = `${directory}/${name}`
  let etcd: ChildProcess | undefined
  let patroni: ChildProcess | undefined
  const postgresPids = () => withChildren(readPostmaster(dataDirectory))
  const signalNode = (signal: NodeJS.Signals) => {
    for (const pid of [patroni?.pid, ...postgresPids()]) if (pid !== undefined) signalQuietly(pid, signal)
  }
  return {
    name,
    address,
    startEtcd() {
      const environment = etcdEnvironment(number, directory)
      etcd = startProgram({ command: ['etcd'], environment, logFile: `${directory}/etcd-${number}.log` })
    },
    killEtcd: () => killProgram(etcd),
    startPatroni() {
      patroni = startProgram({
        command: ['patroni', `${directory}/patroni-${number}.yml`],
        environment: patroniEnvironment({ number, directory, postgresDirectory }),
        logFile: `${directory}/patroni-${number}.log`,
      })
    },
    async kill() {
      const pids = postgresPids()
      await killProgram(patroni)
      for (const pid of pids) signalQuietly(pid, 'SIGKILL')
    },
    killPostgres() {
      for (const pid of postgresPids()) signalQuietly(pid, 'SIGKILL')
    },
    freeze: () => signalNode('SIGSTOP'),
    thaw: () => signalNode('SIGCONT'),
    freezeSenders() {
      for (const pid of postgresPids()) if (/walsender/.test(commandOf(pid))) signalQuietly(pid, 'SIGSTOP')
    },
  }
}

function etcdEnvironment(number: number, directory: string): Readonly<Record<string, string>> {
  const client = `http://${addressOf(number)}:2379`
  const peer = (of: number) => `http://${addressOf(of)}:2380`
  return {
    ETCD_NAME: `node-${number}`,
    ETCD_DATA_DIR: `${directory}/etcd-${number}`,
    ETCD_LISTEN_CLIENT_URLS: client,
    ETCD_ADVERTISE_CLIENT_URLS: client,
    ETCD_LISTEN_PEER_URLS: peer(number),
    ETCD_INITIAL_ADVERTISE_PEER_URLS: peer(number),
    ETCD_INITIAL_CLUSTER: nodeNumbers.map((of) => `node-${of}=${peer(of)}`).join(','),
    ETCD_INITIAL_CLUSTER_TOKEN: 'tollbook',
    ETCD_INITIAL_CLUSTER_STATE: 'new',
    ETCD_ENABLE_V2: 'true',
  }
}

/** The settings of deploy/patroni/node.example.env. */
function patroniEnvironment({ number, directory, postgresDirectory }: NodeOptions): Readonly<Record<string, string>> {
  const address = addressOf(number)
  return {
    PATRONI_NAME: `node-${number}`,
    PATRONI_RESTAPI_LISTEN: `${address}:8008`,
    PATRONI_RESTAPI_CONNECT_ADDRESS: `${address}:8008`,
    PATRONI_POSTGRESQL_LISTEN: `${address}:5432`,
    PATRONI_POSTGRESQL_CONNECT_ADDRESS: `${address}:5432`,
    PATRONI_POSTGRESQL_DATA_DIR: `${directory}/node-${number}`,
    PATRONI_POSTGRESQL_BIN_DIR: postgresDirectory,
    PATRONI_POSTGRESQL_PGPASS: `${directory}/pgpass-${number}`,
    PATRONI_ETCD_HOSTS: nodeNumbers.map((of) => `'${addressOf(of)}:2379'`).join(','),
    PATRONI_SUPERUSER_USERNAME: 'postgres',
    PATRONI_SUPERUSER_PASSWORD: password,
    PATRONI_REPLICATION_USERNAME: 'replicator',
    PATRONI_REPLICATION_PASSWORD: password,
    PATRONI_REWIND_USERNAME: 'rewinder',
    PATRONI_REWIND_PASSWORD: password,
    ...rolePasswords(directory),
  }
}

/** A value for each password that the shipped script reads, so that a new role cannot be missing here. */
function rolePasswords(directory: string): Readonly<Record<string, string>> {
  const script = readFileSync(`${directory}/create-roles.sh`, 'utf8')
  return Object.fromEntries([...script.matchAll(/="\$([A-Z0-9_]+)"/g)].map(([, name = '']) => [name, password]))
}

/** The first process of Postgres, which is not a child of Patroni. */
function readPostmaster(dataDirectory: string): number | undefined {
  try {
    return Number(readFileSync(`${dataDirectory}/postmaster.pid`, 'utf8').split('\n', 1)[0])
  } catch {
    // It does not run.
    return undefined
  }
}

function withChildren(parent: number | undefined): readonly number[] {
  if (parent === undefined) return []
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && parentOf(name) === parent)
    .map(Number)
  return [parent, ...children]
}

function parentOf(pid: string): number | undefined {
  try {
    return Number(/^\d+ \(.*\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1])
  } catch {
    return undefined
  }
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}

function signalQuietly(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has ended in the meantime.
  }
}
