import type { CallToolResult, InputRequiredResult, McpServer, ServerContext } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { readRefusal, type WalletClient } from '../client/walletClient.ts'
import { fetchOrder, type JsonRequest, methods, orderOf } from '../walletWire.ts'
import { canAsk, type Consent, wasAsked } from './consent.ts'
import type { Deliveries } from './deliveries.ts'
import { answerResult, jsonResult } from './toolResult.ts'

// Ends a call whose answer does not end. A payment that was signed before stays open.
const callTimeoutMs = 120_000
const bodyCharactersMax = 256 * 1024
const request = {
  url: z.string().max(8_192).describe('https URL of a host that the owner lists'),
  method: z.enum(methods).default('GET'),
  body: z.string().max(bodyCharactersMax).optional().describe('JSON body, as text'),
}
const quoteInput = z.strictObject(request)
const payInput = z.strictObject({
  ...request,
  maxUsd: fetchOrder.shape.maxUsd.describe('refuse a higher price; the limits of the owner hold anyway'),
})

export interface PaidDeps {
  readonly server: McpServer
  readonly wallet: WalletClient
  readonly consent: Consent
  readonly deliveries: Deliveries
}

export function registerPaidTools(deps: PaidDeps): void {
  const { server, wallet } = deps
  server.registerTool(
    'quote',
    {
      description: 'The price of a request. Pays nothing.',
      inputSchema: quoteInput,
      annotations: { readOnlyHint: true },
    },
    async (given) => answerResult(hostOf(given.url), await wallet.request(orderOf('quote', given))),
  )
  server.registerTool(
    'pay_and_fetch',
    {
      description:
        'Makes a request and pays for it if the service asks, within limits that only the owner can change. After an error, repeat the same request: an open payment is presented again and never paid twice.',
      inputSchema: payInput,
    },
    (given, context) => buy(deps, given, context),
  )
}

/** Asks the person if the price needs consent. Returns the refusal if the host cannot ask, or the person has not agreed. */
export async function buy(
  { server, wallet, consent, deliveries }: PaidDeps,
  given: JsonRequest,
  context: ServerContext,
): Promise<CallToolResult | InputRequiredResult> {
  const agreed = consent.agreedTo(given.url, context)
  const order = { ...orderOf('pay', given), ...(agreed === undefined ? {} : { agreed }) }
  const signal = AbortSignal.any([context.mcpReq.signal, AbortSignal.timeout(callTimeoutMs)])
  const answer = await wallet.request(order, signal)
  if (answer.kind === 'refusal') {
    const { code, quote } = readRefusal(answer)
    if (code === 'CONFIRMATION_NEEDED' && quote !== undefined && canAsk(server, context)) {
      if (agreed === undefined && wasAsked(context))
        return jsonResult({ refused: 'the person did not agree; nothing was paid' }, true)
      return consent.ask(given.url, quote, context)
    }
  }
  deliveries.add(context.mcpReq.id, answer.payment)
  return answerResult(hostOf(given.url), answer)
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'the service'
}
