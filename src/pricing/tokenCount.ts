/* Estimates, because the service does not have the tokenizer of the model. */

// English text has four to five bytes per token, other languages have fewer.
const bytesPerToken = 4
/** Additional tokens of each message, for the marks of its role and its end. */
export const tokensPerMessage = 4
/** Maximum characters of one token in any language. A reply with more per permitted token certainly exceeds the request. */
export const charactersPerToken = 16

export function countTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / bytesPerToken)
}
