/** In the order of the price list. */
export const builtinNames = [
  'crypto',
  'weather',
  'stock',
  'news',
  'qrcode',
  'screenshot',
  'pdf',
  'chat',
  'chat-completions',
] as const

export type BuiltinName = (typeof builtinNames)[number]

export interface BuiltinChoice {
  readonly name: BuiltinName
  /** Undefined: the price in the definition of the product. */
  readonly priceMicroUsd?: bigint | undefined
  /** Captures that were sold before stay available. */
  readonly isOff: boolean
}
