/*
 * Token counts that the service estimates without the tokenizer of the model.
 */

// Estimated bytes per token. English text has four to five bytes per token, other languages have fewer.
const bytesPerToken = 4
/** Additional tokens of each message, for the marks of its role and its end. */
export const tokensPerMessage = 4
/** Maximum characters per token, in any language. A longer reply certainly has more tokens than the request permits. */
export const charactersPerToken = 16

export function countTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / bytesPerToken)
}
