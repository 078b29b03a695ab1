import type { Server } from 'node:http'
import { type RawData, WebSocket, WebSocketServer } from 'ws'
import { z } from 'zod'
import type { Json } from '@tollbook/core/canonicalJson'
import { describeError } from '@tollbook/core/fault'
import { parseJson } from '@tollbook/core/json'
import type { Log } from './log.ts'
import type { RequestWatch } from './requestWatch.ts'
import { RpcError, invalidParams, rpcErrorCodes } from './rpcError.ts'
import { errorBody, frameShape } from './rpcService.ts'
import { isUnsubscribe, readSubscription } from './subscription.ts'
import type { Subscriptions } from './subscriptions.ts'

export interface SubscriptionServerDeps {
  readonly subscriptions: Subscriptions
  readonly watch: RequestWatch
  readonly log: Log
  /** True if the chain may start again at this address. Clients then reconnect. */
  readonly mayReturn: boolean
}

export interface SubscriptionServer {
  /** Also takes upgrade requests of this server. */
  serve(server: Server): void
  close(): void
}

/** Serves subscriptions over WebSocket. All other methods require HTTP, as on a real node. */
export function createSubscriptionServer(deps: SubscriptionServerDeps): SubscriptionServer {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: messageBytesMax })
  return {
    serve: (server) => {
      server.on('upgrade', (request, socket, head) => {
        sockets.handleUpgrade(request, socket, head, (webSocket) => new Connection(deps, webSocket))
      })
    },
    close: () => {
      // Close normally if the chain does not return, because web3.js would otherwise reconnect forever. Then cut all
      // clients without waiting for their answer.
      for (const socket of sockets.clients) socket.close(deps.mayReturn ? goingAway : normalClosure)
      for (const socket of sockets.clients) socket.terminate()
      sockets.close()
    },
  }
}

/** One client. Its subscriptions end with the connection. */
class Connection {
  readonly #deps: SubscriptionServerDeps
  readonly #socket: WebSocket
  readonly #open = new Set<number>()

  constructor(deps: SubscriptionServerDeps, socket: WebSocket) {
    this.#deps = deps
    this.#socket = socket
    socket.on('message', (data, isBinary) => this.#receive(isBinary ? '' : textOf(data)))
    // A broken frame or a reset. The `close` event follows and cleans up.
    socket.on('error', (error) => deps.log.debug({ error: describeError(error) }, 'local_chain_socket_error'))
    socket.on('close', () => this.#forgetAll())
  }

  #receive(text: string): void {
    const request = parseJson(text)
    const frame = frameShape.safeParse(request)
    if (!frame.success) {
      const wrong = request === undefined ? rpcErrorCodes.parseError : rpcErrorCodes.invalidRequest
      return this.#send(errorBody(null, new RpcError(wrong, request === undefined ? 'Parse error' : 'Invalid request')))
    }
    const { id, method, params } = frame.data
    // Ignore notifications, which need no answer. web3.js sends one named `ping` every five seconds.
    if (id === undefined) return
    try {
      this.#answer({ id, method, params })
    } catch (error) {
      if (error instanceof RpcError) return this.#send(errorBody(id, error))
      this.#deps.log.error({ method, error: describeError(error) }, 'local_chain_subscription_failed')
      this.#send(errorBody(id, new RpcError(rpcErrorCodes.internalError, 'Internal error')))
    }
  }

  #answer({ id, method, params }: Asked): void {
    this.#deps.watch.note(method)
    if (isUnsubscribe(method)) return this.#send({ jsonrpc: '2.0', result: this.#unsubscribe(params), id })
    const wanted = readSubscription(method, params)
    if (wanted === undefined) throw new RpcError(rpcErrorCodes.methodNotFound, 'Method not found')
    if (this.#open.size >= subscriptionsMax) {
      throw new RpcError(rpcErrorCodes.internalError, `Too many subscriptions; max ${subscriptionsMax}`)
    }
    const number = this.#deps.subscriptions.open(wanted, (notification) => this.#send(notification))
    this.#open.add(number)
    this.#send({ jsonrpc: '2.0', result: number, id })
    this.#deps.subscriptions.catchUp(number)
  }

  #unsubscribe(params: unknown): boolean {
    const [number] = unsubscribeParams.safeParse(params).data ?? []
    if (number === undefined || !this.#open.delete(number)) throw invalidParams('Invalid subscription id.')
    // A subscription that has sent its signature is already closed. The client gets the same answer.
    this.#deps.subscriptions.close(number)
    return true
  }

  #send(message: Json): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return
    // Disconnect a client that does not read, because its unsent messages would fill our memory.
    if (this.#socket.bufferedAmount > unsentBytesMax) return this.#socket.terminate()
    this.#socket.send(JSON.stringify(message))
  }

  #forgetAll(): void {
    for (const number of this.#open) this.#deps.subscriptions.close(number)
    this.#open.clear()
  }
}

interface Asked {
  readonly id: string | number | null
  readonly method: string
  readonly params: unknown
}

const unsubscribeParams = z.tuple([z.number().int()])

function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString('utf8')
  return (Buffer.isBuffer(data) ? data : Buffer.from(data)).toString('utf8')
}

const messageBytesMax = 64 * 1024
const subscriptionsMax = 1_000
const unsentBytesMax = 8 * 1024 * 1024
const normalClosure = 1_000
const goingAway = 1_001
