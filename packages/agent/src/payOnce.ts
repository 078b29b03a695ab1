import { encodeBase64 } from '@tollbook/core/base64'
import { utf8Bytes, utf8Text } from '@tollbook/core/bytes'
import { UsageError } from './agentArguments.ts'
import { readRefusal, type WalletClient } from './client/walletClient.ts'
import { fetchOrder } from './walletWire.ts'

export interface PayOnceOrder {
  readonly method: string
  readonly url: string
  readonly json: string | undefined
  readonly maxUsd: string | undefined
}

export interface Streams {
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown }
}

/** Buys one answer and prints it. Returns true for an answer of the 200s. */
export async function payOnce(wallet: WalletClient, order: PayOnceOrder, streams: Streams): Promise<boolean> {
  const { method, url, json, maxUsd } = order
  const { data: asked, error } = fetchOrder.safeParse({
    intent: 'pay',
    method: method.toUpperCase(),
    url,
    headers: [['content-type', 'application/json']],
    ...(json === undefined ? {} : { bodyBase64: encodeBase64(utf8Bytes(json)) }),
    ...(maxUsd === undefined ? {} : { maxUsd }),
  })
  if (asked === undefined)
    throw new UsageError(error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '))
  const answer = await wallet.request(asked)
  if (answer.kind === 'refusal') {
    const { code, message, details = '' } = readRefusal(answer)
    streams.stderr.write(`${code}: ${message}\n${details}\n`)
    return false
  }
  const { payment, status } = answer
  streams.stdout.write(`${utf8Text(answer.bytes)}\n`)
  if (payment !== undefined) {
    streams.stderr.write(`paid ${payment.usd} USD with ${payment.signature}\n`)
    await wallet.received(payment)
  }
  return status >= 200 && status <= 299
}
