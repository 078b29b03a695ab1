import { type MeteredPrice, outputWithin, type Usage } from '../../pricing/meteredPrice.ts'
import { countTokens, tokensPerMessage } from '../../pricing/tokenCount.ts'
import type { ChatMessage, ChatUsage } from './server/chatRequest.ts'

/* The tokens of a chat, as its price by use counts them. */

/** The tokens of a conversation, before its model reports them. */
export function countInput(messages: readonly ChatMessage[]): number {
  return messages.reduce((sum, { content }) => sum + countTokens(content) + tokensPerMessage, 0)
}

// A token has at least one byte.
function inputMost(messages: readonly ChatMessage[]): number {
  return messages.reduce((sum, { content }) => sum + Buffer.byteLength(content) + 4 * tokensPerMessage, 0)
}

interface Answered {
  readonly messages: readonly ChatMessage[]
  readonly tokensMax: number
  /** The text of the reply, or the part that was written. */
  readonly reply: string
  /** Counts of the server. Nulls: it reported none. */
  readonly reported: ChatUsage
}

/** The usage of a reply: as its server reports it, within what is possible; otherwise as counted here. */
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

/** Tokens of output that a budget pays for. At least one, because the charge is never more than the budget. */
export function affordableTokens(
  price: MeteredPrice,
  { messages, budgetMicroUsd }: { readonly messages: readonly ChatMessage[]; readonly budgetMicroUsd: bigint },
): number {
  return outputWithin(price, { input: countInput(messages), budgetMicroUsd }) ?? 1
}
