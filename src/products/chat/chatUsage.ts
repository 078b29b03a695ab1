import { type MeteredPrice, outputWithin, type Usage } from '../../pricing/meteredPrice.ts'
import { countTokens, tokensPerMessage } from '../../pricing/tokenCount.ts'
import type { ChatMessage, ChatUsage } from './server/chatRequest.ts'

/* Counts the tokens of a chat for the price by use. */

/** Estimates the input tokens of a conversation, before the model reports the exact number. */
export function countInput(messages: readonly ChatMessage[]): number {
  return messages.reduce((sum, { content }) => sum + countTokens(content) + tokensPerMessage, 0)
}

// Returns an upper bound of the input tokens, which corrects servers that report too many. Each token has at least one
// byte.
function inputMost(messages: readonly ChatMessage[]): number {
  return messages.reduce((sum, { content }) => sum + Buffer.byteLength(content) + 4 * tokensPerMessage, 0)
}

interface Answered {
  readonly messages: readonly ChatMessage[]
  readonly tokensMax: number
  /** The text of the whole reply, or of the part that was written. */
  readonly reply: string
  /** Token counts that the server reported. Null: not reported. */
  readonly reported: ChatUsage
}

/**
 * Returns the billed usage of a reply: the server's counts, limited to plausible maximums. Without reported counts, the
 * usage is estimated.
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

/**
 * Returns the number of output tokens that the budget pays for. At least 1, because the charge never exceeds the
 * budget.
 */
export function affordableTokens(
  price: MeteredPrice,
  { messages, budgetMicroUsd }: { readonly messages: readonly ChatMessage[]; readonly budgetMicroUsd: bigint },
): number {
  return outputWithin(price, { input: countInput(messages), budgetMicroUsd }) ?? 1
}
