import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { assertPresent } from '@tollbook/core/assert'
import { awaitThat } from '../../support/awaitThat.ts'
import { freePort } from '../../support/freePort.ts'

export interface HaProxy extends AsyncDisposable {
  readonly baseUrl: string
  /** The instances, with what the health checks have found since they were up first. */
  states(): Promise<readonly InstanceState[]>
  /** Requests of all callers so far, and those of them that an instance was asked. */
  requests(): Promise<{ readonly received: number; readonly passedOn: number }>
}

export interface InstanceState {
  readonly name: string
  readonly status: string
  readonly failedChecks: number
  readonly timesDown: number
}

export interface HaProxyOptions {
  /** Addresses of the two instances. */
  readonly instances: readonly string[]
  /** For its log. */
  readonly directory: string
}

const places = ['/usr/sbin/haproxy', '/usr/local/sbin/haproxy', '/usr/bin/haproxy']
const shippedFile = fileURLToPath(new URL('../../../deploy/haproxy.cfg', import.meta.url))

/** Undefined when it is not installed. */
export function findHaProxy(): string | undefined {
  return places.find((place) => existsSync(place))
}

/** HAProxy with deploy/haproxy.cfg, unchanged. Returns when both instances are in rotation. */
export async function startHaProxy({ instances, directory }: HaProxyOptions): Promise<HaProxy> {
  const program = assertPresent(findHaProxy(), 'HAProxy is installed')
  const [api1, api2] = instances.map((url) => new URL(url).host)
  const [port, ownPort, proxiedPort] = [await freePort(), await freePort(), await freePort()]
  await using log = await open(`${directory}/haproxy.log`, 'w')
  const child = spawn(program, ['-db', '-f', shippedFile], {
    env: {
      BIND: `127.0.0.1:${port}`,
      BIND_PROXIED: `127.0.0.1:${proxiedPort}`,
      BIND_SELF: `127.0.0.1:${ownPort}`,
      API_1: api1,
      API_2: api2,
    },
    stdio: ['ignore', log.fd, log.fd],
  })
  const gone = once(child, 'exit')
  const table = () => readTable(`http://127.0.0.1:${ownPort}/stats;csv`)
  const states = async () => statesOf(await table())
  await awaitThat('both instances are in rotation', async () => {
    const found = await states().catch(() => [])
    return found.length === 2 && found.every(({ status }) => status === 'UP')
  })
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    states,
    requests: async () => requestsOf(await table()),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await gone
    },
  }
}

type Table = readonly ReadonlyMap<string, string>[]

/** Reads HAProxy's own table, whose first line names the columns. */
async function readTable(url: string): Promise<Table> {
  const [head = '', ...lines] = (await (await fetch(url)).text()).replace(/^# /, '').trim().split('\n')
  const names = head.split(',')
  return lines.map((line) => new Map(line.split(',').map((cell, column) => [names[column] ?? '', cell])))
}

function requestsOf(table: Table): { readonly received: number; readonly passedOn: number } {
  const of = (proxy: string, side: string) => {
    const row = table.find((each) => each.get('pxname') === proxy && each.get('svname') === side)
    return Number(row?.get('req_tot'))
  }
  return { received: of('callers', 'FRONTEND'), passedOn: of('instances', 'BACKEND') }
}

function statesOf(table: Table): readonly InstanceState[] {
  return table
    .filter((row) => row.get('pxname') === 'instances' && row.get('svname') !== 'BACKEND')
    .map((row) => ({
      name: row.get('svname') ?? '',
      status: row.get('status') ?? '',
      failedChecks: Number(row.get('chkfail')),
      timesDown: Number(row.get('chkdown')),
    }))
}
