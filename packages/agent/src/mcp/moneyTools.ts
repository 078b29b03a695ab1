import { z } from 'zod'
import type { PaidDeps } from './paidTools.ts'
import { answerResult, jsonResult } from './toolResult.ts'

const openPayments = z.object({ open: z.array(z.object({ signature: z.string(), url: z.string() })) })
const nothing = z.strictObject({})
// Maximum open payments per call of `retry`, because each answer may be as long as that of a purchase.
const retriesMax = 5

/** Registers tools that sign no payment: `retry` presents open payments again. */
export function registerMoneyTools({ server, wallet, deliveries }: Omit<PaidDeps, 'consent'>): void {
  const reader = (name: string, path: '/spending' | '/balance' | '/receipts', description: string) =>
    server.registerTool(name, { description, inputSchema: nothing, annotations: { readOnlyHint: true } }, async () =>
      jsonResult(await wallet.read(path)),
    )
  reader(
    'spending',
    '/spending',
    'Amounts spent, the limits and what they leave, and the number of open payments. Free.',
  )
  reader('balance', '/balance', 'Tokens and SOL of the wallet, and what its tabs at services hold. Free.')
  reader('receipts', '/receipts', 'The last 100 payments with their receipts. Free.')
  let last: string | undefined
  server.registerTool(
    'retry',
    {
      description: 'Presents open payments again and returns their answers. Never pays again.',
      inputSchema: nothing,
    },
    async (_given, { mcpReq }) => {
      const { open } = openPayments.parse(await wallet.read('/open'))
      // Continue after the last one, so that payments that stay open do not hide the newer ones.
      const next = open.findIndex(({ signature }) => signature === last) + 1
      const results = []
      for (const { signature, url } of [...open.slice(next), ...open.slice(0, next)].slice(0, retriesMax)) {
        last = signature
        const answer = await wallet.retry(signature)
        deliveries.add(mcpReq.id, answer.payment)
        results.push(answerResult(new URL(url).host, answer))
      }
      if (results.length === 0) return jsonResult({ openPayments: 0 })
      return {
        isError: results.some(({ isError }) => isError === true),
        content: results.flatMap(({ content }) => content),
      }
    },
  )
}
