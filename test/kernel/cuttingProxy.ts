import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterFile } from '../support/afterFile.ts'

/** Point at which the connection breaks: before the server has the request, directly after it, or during the answer. */
export type Cut = 'before the request' | 'behind the request' | 'before the answer'

export interface CuttingProxy {
  readonly databaseUrl: string
  /** The next appends, in this number, are cut. */
  cut(where: Cut, times: number): void
  /** Appends that were cut so far. */
  cuts(): number
}

/** A TCP relay to Postgres that can break a connection at a chosen point of an append. */
export async function openCuttingProxy(databaseUrl: string): Promise<CuttingProxy> {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  const plan: Plan = { where: 'before the request', left: 0, done: 0 }
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname)
    for (const socket of [client, upstream]) sockets.add(socket)
    relay(client, upstream, plan)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  afterFile(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  const url = new URL(databaseUrl)
  url.port = String(portOf(server.address()))
  return {
    databaseUrl: url.href,
    cut(where, times) {
      Object.assign(plan, { where, left: times })
    },
    cuts: () => plan.done,
  }
}

interface Plan {
  where: Cut
  left: number
  done: number
}

function relay(client: Socket, upstream: Socket, plan: Plan): void {
  let cutsAnswer = false
  const end = (): void => {
    client.destroy()
    upstream.destroy()
  }
  for (const socket of [client, upstream]) socket.on('error', end).on('close', end)
  client.on('data', (chunk) => {
    const isCut = plan.left > 0 && chunk.includes('ledger_append')
    if (isCut) {
      plan.left--
      plan.done++
      if (plan.where === 'before the request') return end()
      if (plan.where === 'behind the request') return void upstream.write(chunk, end)
      cutsAnswer = true
    }
    upstream.write(chunk)
  })
  upstream.on('data', (chunk) => {
    if (cutsAnswer) return end()
    client.write(chunk)
  })
}

function portOf(address: string | AddressInfo | null): number {
  if (typeof address !== 'object' || address === null) throw new Error('the proxy listens on a port')
  return address.port
}
