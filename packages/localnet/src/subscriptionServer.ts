import type { Server } from 'node:http'
import { type RawData, WebSocket, WebSocketServer } from 'ws'
import { z } from 'zod'
import type { Json } from '@tollbook/core/canonicalJson'
import { describeError } from '@tollbook/core/fault'
import { parseJson } from '@tollbook/core/json'
import type { Bank } from './bank.ts'
import type { Log } from './log.ts'
import type { RequestWatch } from './requestWatch.ts'
import { RpcError, invalidParams, rpcErrorCodes } from './rpcError.ts'
import { commitmentOf, contextConfig, parseParams, signatureParam } from './rpcMethod.ts'
import { errorBody, frameShape } from './rpcService.ts'
import type { Commitment } from './slots.ts'

export interface SubscriptionServerDeps {
  readonly bank: Bank
  readonly watch: RequestWatch
  readonly log: Log
  /** True if the chain may start again at this address, so that clients should reconnect. */
  readonly mayReturn: boolean
}

export interface SubscriptionServer {
  serve(server: Server): void
  close(): void
}

/** Supports only subscriptions to signatures, with which clients wait for a confirmation. */
export function createSubscriptionServer(deps: SubscriptionServerDeps): SubscriptionServer {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: messageBytesMax })
  return {
    serve: (server) => {
      server.on('upgrade', (request, socket, head) => {
        sockets.handleUpgrade(request, socket, head, (webSocket) => new Connection(deps, webSocket))
      })
    },
    close: () => {
      // Close normally if the chain does not start again, because web3.js would otherwise reconnect forever. Then cut
      // all connections without waiting for the clients.
      for (const socket of sockets.clients) socket.close(deps.mayReturn ? goingAway : normalClosure)
      for (const socket of sockets.clients) socket.terminate()
      sockets.close()
    },
  }
}

interface AwaitedSignature {
  readonly signature: Uint8Array
  readonly commitment: Commitment
}

class Connection {
  readonly #deps: SubscriptionServerDeps
  readonly #socket: WebSocket
  readonly #awaited = new Map<number, AwaitedSignature>()
  #lastNumber = 0

  constructor(deps: SubscriptionServerDeps, socket: WebSocket) {
    this.#deps = deps
    this.#socket = socket
    const notify = (): void => this.#notifyReached()
    const forget = deps.bank.listen({ landed: notify, slotReached: notify })
    socket.on('message', (data, isBinary) => this.#receive(isBinary ? '' : textOf(data)))
    // Only log an invalid frame or a reset, because the `close` event follows and cleans up.
    socket.on('error', (error) => deps.log.debug({ error: describeError(error) }, 'local_chain_socket_error'))
    socket.on('close', forget)
  }

  #receive(text: string): void {
    const request = parseJson(text)
    const frame = frameShape.safeParse(request)
    if (!frame.success) {
      const wrong = request === undefined ? rpcErrorCodes.parseError : rpcErrorCodes.invalidRequest
      return this.#send(errorBody(null, new RpcError(wrong, request === undefined ? 'Parse error' : 'Invalid request')))
    }
    const { id, method, params } = frame.data
    // Ignore notifications, because they need no response. web3.js sends the notification `ping` every five seconds.
    if (id === undefined) return
    this.#deps.watch.note(method)
    try {
      this.#send({ jsonrpc: '2.0', result: this.#call(method, params), id })
      // The signature may have reached its commitment already. Notify only now, because the client must first receive
      // the subscription number.
      this.#notifyReached()
    } catch (error) {
      if (error instanceof RpcError) return this.#send(errorBody(id, error))
      this.#deps.log.error({ method, error: describeError(error) }, 'local_chain_subscription_failed')
      this.#send(errorBody(id, new RpcError(rpcErrorCodes.internalError, 'Internal error')))
    }
  }

  #call(method: string, params: unknown): Json {
    if (method === 'signatureSubscribe') return this.#subscribe(params)
    if (method === 'signatureUnsubscribe') return this.#unsubscribe(params)
    throw new RpcError(rpcErrorCodes.methodNotFound, 'Method not found')
  }

  #subscribe(params: unknown): number {
    const [signature, config] = parseParams(signatureParams, params)
    if (this.#awaited.size >= subscriptionsMax) {
      throw new RpcError(rpcErrorCodes.internalError, `Too many subscriptions; max ${subscriptionsMax}`)
    }
    this.#lastNumber += 1
    this.#awaited.set(this.#lastNumber, { signature, commitment: commitmentOf(config) })
    return this.#lastNumber
  }

  /** Also returns true for a subscription that its notification has already ended. */
  #unsubscribe(params: unknown): boolean {
    const [number] = parseParams(unsubscribeParams, params)
    if (number > this.#lastNumber) throw invalidParams('Invalid subscription id.')
    this.#awaited.delete(number)
    return true
  }

  #notifyReached(): void {
    const { history, slots } = this.#deps.bank
    for (const [number, { signature, commitment }] of this.#awaited) {
      const entry = history.find(signature)
      if (entry === undefined || entry.slot > slots.at(commitment)) continue
      this.#awaited.delete(number)
      const result = { context: { slot: entry.slot }, value: { err: entry.error } }
      this.#send({ jsonrpc: '2.0', method: 'signatureNotification', params: { result, subscription: number } })
    }
  }

  #send(message: Json): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return
    // Disconnect a client that does not read, because its unsent messages would fill the memory of this process.
    if (this.#socket.bufferedAmount > unsentBytesMax) return this.#socket.terminate()
    this.#socket.send(JSON.stringify(message))
  }
}

const signatureParams = z.tuple([signatureParam, contextConfig.optional()])
const unsubscribeParams = z.tuple([z.number().int().positive()])

function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString('utf8')
  return (Buffer.isBuffer(data) ? data : Buffer.from(data)).toString('utf8')
}

const messageBytesMax = 64 * 1024
const subscriptionsMax = 1_000
const unsentBytesMax = 8 * 1024 * 1024
const normalClosure = 1_000
const goingAway = 1_001
