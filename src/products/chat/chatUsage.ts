import { type MeteredPrice, outputWithin, type Usage } from '../../pricing/meteredPrice.ts'
import { chargedUsage, type CountedReply, countTokens, tokensPerMessage } from '../../pricing/tokenCount.ts'
import type { ChatMessage, ChatUsage } from './server/chatRequest.ts'

/** Estimates the tokens, because only the model reports the exact number. */
export function countInput(messages: readonly ChatMessage[]): number {
  return messages.reduce((sum, { content }) => sum + countTokens(content) + tokensPerMessage, 0)
}

// Upper bound of the input tokens: each token has at least one byte.
function inputMost(messages: readonly ChatMessage[]): number {
  return messages.reduce((sum, { content }) => sum + Buffer.byteLength(content) + 4 * tokensPerMessage, 0)
}

interface AnsweredChat extends Pick<CountedReply, 'reply'> {
  readonly messages: readonly ChatMessage[]
  readonly tokensMax: number
  readonly reported: ChatUsage
}

export function chatUsage({ messages, tokensMax, reply, reported }: AnsweredChat): Usage {
  const { promptTokens: input, completionTokens: output } = reported
  return chargedUsage({
    input: countInput(messages),
    inputMost: inputMost(messages),
    outputMax: tokensMax,
    reply,
    reported: input === null || output === null ? undefined : { input, output },
  })
}

/** Returns the output tokens that the budget covers, but at least 1, because the charge is capped at the budget. */
export function affordableTokens(
  price: MeteredPrice,
  { messages, budgetMicroUsd }: { readonly messages: readonly ChatMessage[]; readonly budgetMicroUsd: bigint },
): number {
  return outputWithin(price, { input: countInput(messages), budgetMicroUsd }) ?? 1
}
