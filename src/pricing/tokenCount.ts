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
