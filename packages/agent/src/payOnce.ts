import { z } from 'zod'
import { writeWhole } from '@tollbook/client/command/writeWhole'
import { utf8Text } from '@tollbook/core/bytes'
import { UsageError } from './agentArguments.ts'
import { readRefusal, type WalletClient } from './client/walletClient.ts'
import { cleanText } from './mcp/serviceText.ts'
import { fetchOrder, methods, orderOf } from './walletWire.ts'

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

export async function payOnce(wallet: WalletClient, order: PayOnceOrder, streams: Streams): Promise<boolean> {
  const { url, json: body, maxUsd } = order
  const method = z.enum(methods).safeParse(order.method.toUpperCase())
  if (!method.success) throw new UsageError(`the method must be one of ${methods.join(', ')}`)
  const { data: asked, error } = fetchOrder.safeParse(orderOf('pay', { method: method.data, url, body, maxUsd }))
  if (asked === undefined)
    throw new UsageError(error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '))
  const answer = await wallet.request(asked)
  if (answer.kind === 'refusal') {
    const { code, message, details = '' } = readRefusal(answer)
    streams.stderr.write(`${code}: ${message}\n${details === '' ? '' : `${cleanText(details)}\n`}`)
    return false
  }
  const { payment, status } = answer
  await writeWhole(streams.stdout, `${utf8Text(answer.bytes)}\n`)
  if (payment !== undefined) {
    streams.stderr.write(`paid ${payment.usd} USD with ${payment.signature}\n`)
    // Confirm after the answer is printed, because until then the same command gets the same answer.
    await wallet.received(payment)
  }
  return status >= 200 && status <= 299
}
