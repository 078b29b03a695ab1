/* Tokens that the service counts itself, without a tokenizer of the model. */

// English has four to five bytes a token, other languages fewer.
const bytesPerToken = 4
/** Marks of role and end, which each message has. */
export const tokensPerMessage = 4
/** A longer reply has more tokens than were asked for, whatever its language. */
export const charactersPerToken = 16

export function countTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / bytesPerToken)
}
