import type { Usage } from './meteredPrice.ts'

/* Token counts are estimates, because the service does not have the tokenizer of the model. */

// English text has four to five bytes per token, other languages have fewer.
const bytesPerToken = 4
/** Each message has marks for its role and its end. */
export const tokensPerMessage = 4
/** Upper bound of characters per token. A longer reply has more tokens than the request permits. */
export const charactersPerToken = 16

export function countTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / bytesPerToken)
}

export interface CountedReply {
  /** Estimated tokens of the order. */
  readonly input: number
  /** Upper bound of the input tokens: each token has at least one byte. */
  readonly inputMost: number
  readonly outputMax: number
  /** The text of the whole reply, or of the part that the caller received. */
  readonly reply: string
  readonly reported: Pick<Usage, 'input' | 'output'> | undefined
}

/**
 * Limits the reported counts to what the order can have used, because an upstream could report any number. Without a
 * report, the usage is estimated. Some upstreams report zero for counts that they do not know.
 */
export function chargedUsage({ input, inputMost, outputMax, reply, reported }: CountedReply): Usage {
  if (reported === undefined || reported.input === 0 || (reported.output === 0 && reply !== ''))
    return { input, output: Math.min(countTokens(reply), outputMax), isEstimated: true }
  return {
    input: Math.min(reported.input, inputMost),
    output: Math.min(reported.output, outputMax),
    isEstimated: false,
  }
}
