import type pg from 'pg'
import { assert } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import type { LocalNode } from '@tollbook/localnet/localChain'
import type { SpawnedServer } from '../../test/proofs/spawnServer.ts'
import { postgresMs, processMs } from '../peer/processTime.ts'

export interface MeasuredService {
  readonly server: SpawnedServer
  readonly admin: pg.Client
  readonly node: LocalNode
}

/** Cost of one request to the server and its database. */
export interface RequestCost {
  readonly requests: number
  readonly processorMs: number
  /** The part of Node. No request keeps the event loop busy for longer. */
  readonly nodeMs: number
  readonly rpcCalls: number
  readonly rows: number
}

/** Costs of a service that gets no request, per second. */
export interface Background {
  readonly processorMs: number
  readonly nodeMs: number
  readonly rpcCalls: number
}

export interface Load {
  readonly callers: number
  readonly seconds: number
  readonly requestsMax?: number
  readonly send: () => Promise<unknown>
}

interface Totals {
  readonly processorMs: number
  readonly nodeMs: number
  readonly rpcCalls: number
  readonly rows: number
}

export async function measureBackground(service: MeasuredService, seconds: number): Promise<Background> {
  const before = await readTotals(service)
  await systemClock.sleep(seconds * 1000)
  const after = await readTotals(service)
  return {
    processorMs: (after.processorMs - before.processorMs) / seconds,
    nodeMs: (after.nodeMs - before.nodeMs) / seconds,
    rpcCalls: (after.rpcCalls - before.rpcCalls) / seconds,
  }
}

export async function measureCost(
  service: MeasuredService,
  { callers, seconds, send, requestsMax = Infinity }: Load,
  background: Background,
): Promise<RequestCost> {
  await send()
  const before = await readTotals(service)
  const startedAtMs = systemClock.monotonicMs()
  let requests = 0
  const endsAtMs = startedAtMs + seconds * 1000
  const call = async (): Promise<void> => {
    while (requests < requestsMax && systemClock.monotonicMs() < endsAtMs) {
      requests++
      await send()
    }
  }
  await Promise.all(Array.from({ length: callers }, call))
  const tookSeconds = (systemClock.monotonicMs() - startedAtMs) / 1000
  const after = await readTotals(service)
  assert(requests > 0, 'at least one request was answered')
  const perRequest = (sum: number, backgroundPerSecond: number) =>
    Math.max(0, sum - backgroundPerSecond * tookSeconds) / requests
  return {
    requests,
    processorMs: perRequest(after.processorMs - before.processorMs, background.processorMs),
    nodeMs: perRequest(after.nodeMs - before.nodeMs, background.nodeMs),
    rpcCalls: perRequest(after.rpcCalls - before.rpcCalls, background.rpcCalls),
    rows: (after.rows - before.rows) / requests,
  }
}

const rowsQuery = `
  select (select count(*) from ledger.quotes) + (select count(*) from ledger.events) + (select count(*) from work.presentations)
    + (select count(*) from work.rate_counts) as rows, pg_backend_pid() as pid`

async function readTotals({ server, admin, node }: MeasuredService): Promise<Totals> {
  const { rows } = await admin.query<{ rows: string; pid: number }>(rowsQuery)
  const [row] = rows
  assert(row !== undefined, 'the totals are one row')
  const nodeMs = await processMs(server.pid)
  const processorMs = nodeMs + (await postgresMs(row.pid))
  const rpcCalls = [...node.requestCounts().values()].reduce((sum, each) => sum + each, 0)
  return { processorMs, nodeMs, rpcCalls, rows: Number(row.rows) }
}
