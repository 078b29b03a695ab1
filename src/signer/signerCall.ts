import { once } from 'node:events'
import { type ClientRequest, request as openRequest } from 'node:http'
import { Agent, request as openTlsRequest } from 'node:https'
import type { Clock } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import { isSocket, type SignerAddress, type SignerPort } from './signerAddress.ts'
import { readTlsIdentity, type TlsFiles } from './tlsIdentity.ts'

export interface SignerCall {
  readonly path: string
  /** Absent: GET. */
  readonly method?: 'GET' | 'POST'
  readonly body?: Uint8Array
}

export interface SignerReply {
  readonly status: number
  readonly text: string
}

/** Throws a retryable fault if the signer does not answer. */
export type CallSigner = (call: SignerCall) => Promise<SignerReply>

type Clocks = Pick<Clock, 'monotonicMs' | 'nowMs'>

const timeoutMs = 5_000

export function createCallSigner(address: SignerAddress, clock: Clocks): CallSigner {
  if (!isSocket(address)) return callPort(address, storeAgents(address.tls, clock))
  const { socketPath } = address
  // Open a connection per call: the signer may just have closed an idle connection, and opening a socket on this
  // machine takes almost no time.
  return (call) => orFault(() => exchange(openRequest({ ...optionsOf(call), socketPath, agent: false }), call))
}

function callPort({ host, port }: SignerPort, agents: AgentStore): CallSigner {
  const open = (call: SignerCall, agent: Agent) => openTlsRequest({ ...optionsOf(call), host, port, agent })
  return (call) =>
    orFault(async () => {
      const request = open(call, await agents.current())
      try {
        return await exchange(request, call)
      } catch (error) {
        if (!request.reusedSocket) throw error
      }
      // Repeat the call on a new connection, because the signer may have closed the idle one. This is safe: one message
      // is signed and charged once.
      return exchange(open(call, await agents.replace()), call)
    })
}

interface AgentStore {
  /** Returns an agent whose certificates are read again every minute. */
  current(): Promise<Agent>
  /** A new agent has no open connections. */
  replace(): Promise<Agent>
}

const renewEveryMs = 60_000

/** Reads the certificates of the service again from time to time, so that a renewal needs no restart. */
function storeAgents(files: TlsFiles, clock: Clocks): AgentStore {
  let agent: Agent | undefined
  let openedAtMs = 0
  async function replace(): Promise<Agent> {
    const { cert, key, ca } = await readTlsIdentity(files, clock.nowMs())
    agent = new Agent({ keepAlive: true, cert, key, ca, minVersion: 'TLSv1.3' })
    openedAtMs = clock.monotonicMs()
    return agent
  }
  return {
    replace,
    async current() {
      const last = agent
      if (last === undefined) return replace()
      if (clock.monotonicMs() - openedAtMs <= renewEveryMs) return last
      // While files are being replaced, use the last valid certificate. A later call reads the complete files.
      return replace().catch(() => last)
    },
  }
}

function optionsOf({ path, method = 'GET' }: SignerCall) {
  return { path, method, signal: AbortSignal.timeout(timeoutMs) }
}

async function exchange(request: ClientRequest, { body }: SignerCall): Promise<SignerReply> {
  request.end(body)
  const [response] = await once(request, 'response')
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(Buffer.from(chunk))
  return { status: Number(response.statusCode), text: Buffer.concat(chunks).toString('utf8') }
}

async function orFault(ask: () => Promise<SignerReply>): Promise<SignerReply> {
  try {
    return await ask()
  } catch (error) {
    throw new Fault('the signer of the network fees does not answer', { cause: error, retryable: true })
  }
}
