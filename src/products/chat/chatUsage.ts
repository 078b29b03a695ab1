import { type MeteredPrice, outputWithin, type Usage } from '../../pricing/meteredPrice.ts'
import { countTokens, tokensPerMessage } from '../../pricing/tokenCount.ts'
import type { ChatMessage, ChatUsage } from './server/chatRequest.ts'

/** Estimates the tokens, because only the model reports the exact number. */
export function countInput(messages: readonly ChatMessage[]): number {
  return messages.reduce((sum, { content }) => sum + countTokens(content) + tokensPerMessage, 0)
}

// Upper bound of the input tokens, for servers that report too many. Each token has at least one byte.
function inputMost(messages: readonly ChatMessage[]): number {
  return messages.reduce((sum, { content }) => sum + Buffer.byteLength(content) + 4 * tokensPerMessage, 0)
}

interface Answered {
  readonly messages: readonly ChatMessage[]
  readonly tokensMax: number
  readonly reply: string
  readonly reported: ChatUsage
}

/**
 * Limits the server's counts to what the reply can have used, because a server could report any number. Without
 * reported counts, the usage is estimated.
 */
export function usageOf({ messages, tokensMax, reply, reported }: Answered): Usage {
  const { promptTokens, completionTokens } = reported
  if (promptTokens === null || completionTokens === null)
    return { input: countInput(messages), output: Math.min(countTokens(reply), tokensMax), isEstimated: true }
  return {
    input: Math.min(promptTokens, inputMost(messages)),
    output: Math.min(completionTokens, tokensMax),
    isEstimated: false,
  }
}

/** Returns the output tokens that the budget covers, but at least 1, because the charge is capped at the budget. */
export function affordableTokens(
  price: MeteredPrice,
  { messages, budgetMicroUsd }: { readonly messages: readonly ChatMessage[]; readonly budgetMicroUsd: bigint },
): number {
  return outputWithin(price, { input: countInput(messages), budgetMicroUsd }) ?? 1
}
