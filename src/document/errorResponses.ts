import { z } from 'zod'
import { invalidPaymentReasons } from '@tollbook/core/refusal'
import { errorBody, quoteBody } from '@tollbook/core/wire'
import { type JsonObject, refTo, schemaOf } from './jsonSchema.ts'
import type { ErrorAdvice } from './verdicts.ts'

const openAiError = z.object({
  message: z.string(),
  type: z.string(),
  param: z.string().nullable(),
  code: z.string(),
})

const offerBody = quoteBody.pick({ error: true, code: true, pricing: true }).strict().meta({
  description: 'without `x-wallet-address`: the headers say how to pay',
})

export const errorSchemas = (): JsonObject => ({
  Error: {
    ...schemaOf(
      errorBody.extend({
        error: z.union([z.string(), openAiError]).meta({
          description:
            'for people: what is wrong and how to fix it; an object below `/v1`, as clients of OpenAI read it',
        }),
        reason: z.enum(Object.keys(invalidPaymentReasons)).optional().meta({ description: 'why a proof was refused' }),
        requestId: z.string().optional().meta({ description: 'with INTERNAL_ERROR' }),
      }),
    ),
  },
  PaymentRequired: schemaOf(quoteBody),
  PaymentOffered: schemaOf(offerBody),
})

/** Returns one response for each status, with all codes of the status, because OpenAPI permits only one. */
export function errorResponses(verdicts: readonly ErrorAdvice[]): JsonObject {
  const byStatus = Map.groupBy(verdicts, ({ status }) => status)
  return Object.fromEntries(
    [...byStatus].map(([status, some]) => [
      `Error${status}`,
      status === 402 ? paymentResponse(some) : responseOf(status, some),
    ]),
  )
}

function responseOf(status: number, verdicts: readonly ErrorAdvice[]): JsonObject {
  return {
    description: describe(verdicts),
    headers: headersOf(status),
    content: { 'application/json': { schema: errorOf(verdicts) } },
  }
}

function paymentResponse(verdicts: readonly ErrorAdvice[]): JsonObject {
  const refusals = verdicts.filter(({ code }) => code !== 'PAYMENT_REQUIRED')
  const offers = ['PaymentRequired', 'PaymentOffered'].map((name) => refTo('schemas', name))
  // Give two examples, because a 402 is a quote or a refused proof.
  const used = { error: invalidPaymentReasons.already_used, code: 'INVALID_PAYMENT', reason: 'already_used' }
  const examples = { PAYMENT_REQUIRED: { value: quoteExample }, INVALID_PAYMENT: { value: used } }
  return {
    description: describe(verdicts),
    headers: headersOf(402),
    content: {
      'application/json': { schema: { oneOf: [...offers, errorOf(refusals)] }, examples },
    },
  }
}

function describe(verdicts: readonly ErrorAdvice[]): string {
  return verdicts.map(({ code, advice }) => `\`${code}\`: ${advice}`).join('\n\n')
}

const statusesWithRetryAfter: ReadonlySet<number> = new Set([402, 404, 409, 429, 503])

function headersOf(status: number): JsonObject {
  return {
    'x-request-id': refTo('headers', 'RequestId'),
    ...(statusesWithRetryAfter.has(status) ? { 'retry-after': refTo('headers', 'RetryAfter') } : {}),
    ...(status === 405 ? { allow: refTo('headers', 'Allow') } : {}),
  }
}

function errorOf(verdicts: readonly ErrorAdvice[]): JsonObject {
  const codes = verdicts.map(({ code }) => code)
  return { allOf: [refTo('schemas', 'Error'), { type: 'object', properties: { code: { enum: codes } } }] }
}

const quoteExample = {
  error:
    'payment required: 5 TOKEN (mint …, available at https://…); burn 1500000 and transfer 3500000 base units of the token, then repeat the request with x-payment-proof',
  code: 'PAYMENT_REQUIRED',
  pricing: { endpoint: '/api/tools/qrcode', priceUSD: 0.005, tokenPrice: 0.001, requiredTokens: 5 },
  distribution: { burn: '30%', provider: '50%', holders: '15%', treasury: '5%' },
  burnInfo: { percentage: 30, tokensToBurn: 1.5 },
  paymentWallet: '…',
  tokenMint: '…',
  tokenSymbol: 'TOKEN',
  tokenSourceUrl: 'https://exchange.example/token',
  tokenProgram: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  paymentTokenAccount: '…',
  network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
  quote: {
    id: 'quote_…',
    expiresAt: '2026-11-21T12:05:00.000Z',
    requiredBaseUnits: '5000000',
    burnBaseUnits: '1500000',
    transferBaseUnits: '3500000',
    decimals: 6,
    memo: 'tollbook:…',
    secret: '…',
  },
} satisfies z.infer<typeof quoteBody>
