import type { IncomingMessage } from 'node:http'
import type { Clock } from '@tollbook/core/clock'
import { utf8Text } from '@tollbook/core/bytes'
import type { WalletFolder } from '../walletFolder.ts'
import {
  type AnswerKind,
  type FetchOrder,
  kindHeader,
  kinds,
  paymentHeader,
  paymentNote,
  type PaymentNote,
  type Refusal,
  refusal,
} from '../walletWire.ts'
import { readAll, sendToWallet, type SocketRequest } from './socketRequest.ts'
import { startWalletProcess } from './startWalletProcess.ts'

export interface WholeAnswer {
  readonly kind: AnswerKind
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly bytes: Uint8Array
  readonly payment: PaymentNote | undefined
}

/** Starts the wallet process if it is missing, and repeats requests if the process restarts. */
export interface WalletClient {
  /**
   * Repeats the request if the wallet process ends: the repeated request finds the open payment and does not pay again.
   * Call `received` once the answer has been delivered.
   */
  request(order: FetchOrder, signal?: AbortSignal): Promise<WholeAnswer>
  /** Like `request`, but resolves at the start of the answer, so that its body can be streamed. */
  open(order: FetchOrder, signal?: AbortSignal): Promise<IncomingMessage>
  retry(signature: string): Promise<WholeAnswer>
  /** Confirms that the answer has been delivered. Until then, the same request returns the same answer. */
  received(payment: PaymentNote): Promise<void>
  read(path: '/status' | '/spending' | '/balance' | '/receipts' | '/open'): Promise<unknown>
}

const triesMax = 10
const pauseMs = 100
// Maximum bytes of an answer. It exceeds the 16 MiB that the SDK reads of a paid answer, so that such an answer is
// never refused here.
const answerBytesMax = 17 * 1024 * 1024

export function connectWallet(folder: WalletFolder, clock: Clock): WalletClient {
  const send = (request: Omit<SocketRequest, 'socket'>) => sendToWallet({ ...request, socket: folder.socket })
  /**
   * Repeats the work if the wallet process is missing or ends, because the process ends when it is idle. Repeating is
   * safe: an open payment is presented again and never paid twice.
   */
  const withWallet = async <T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> => {
    for (let tries = 1; ; tries++) {
      try {
        return await work()
      } catch (error) {
        signal?.throwIfAborted()
        if (!hasCode(error, lostCodes) || tries >= triesMax) throw error
        await clock.sleep(pauseMs)
        if (hasCode(error, missingCodes)) await startWalletProcess(folder, clock)
      }
    }
  }
  // Let each call wait for earlier confirmations: after a confirmed answer, the same request is a new purchase.
  let confirming: Promise<unknown> = Promise.resolve()
  const confirm = async (signature: string) => {
    await withWallet(async () =>
      readAll(await send({ method: 'POST', path: '/received', body: { signature } }), answerBytesMax),
    )
  }
  const call = async <T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> => {
    await confirming
    return withWallet(work, signal)
  }
  const whole = (request: Omit<SocketRequest, 'socket'>) =>
    call(async () => readWhole(await send(request)), request.signal)
  return {
    request: (order, signal) => whole({ method: 'POST', path: '/fetch', body: order, signal }),
    open: (order, signal) => call(() => send({ method: 'POST', path: '/fetch', body: order, signal }), signal),
    retry: (signature) => whole({ method: 'POST', path: '/retry', body: { signature } }),
    received({ signature }) {
      const confirmed = confirm(signature)
      confirming = Promise.allSettled([confirming, confirmed])
      return confirmed
    },
    async read(path) {
      const { kind, bytes } = await whole({ method: 'GET', path })
      const body: unknown = JSON.parse(utf8Text(bytes))
      if (kind === 'refusal') throw new Error(refusal.parse(body).message)
      return body
    },
  }
}

export async function readWhole(response: IncomingMessage): Promise<WholeAnswer> {
  const { statusCode: status = 502, headers } = response
  const kind = kinds.find((each) => each === headers[kindHeader]) ?? 'refusal'
  return { kind, status, headers, bytes: await readAll(response, answerBytesMax), payment: paymentOf(response) }
}

export function paymentOf({ headers }: IncomingMessage): PaymentNote | undefined {
  const text = headers[paymentHeader]
  return typeof text === 'string' ? paymentNote.parse(JSON.parse(text)) : undefined
}

export function readRefusal({ bytes }: Pick<WholeAnswer, 'bytes'>): Refusal {
  return refusal.parse(JSON.parse(utf8Text(bytes)))
}

// With `missingCodes` no process listens on the socket, so a new one is started. With the other `lostCodes`, the
// process may still run.
const missingCodes = ['ECONNREFUSED', 'ENOENT']
const lostCodes = [...missingCodes, 'ECONNRESET', 'EPIPE']

function hasCode(error: unknown, codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.some((code) => code === error.code)
}
