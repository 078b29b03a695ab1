/** Names of the built-in products, in the order of the price list. A products file lists those that are sold. */
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

/** A built-in product of a products file. */
export interface BuiltinChoice {
  readonly name: BuiltinName
  /** Price that replaces the one of the definition. */
  readonly priceMicroUsd?: bigint | undefined
  /** True if it is not sold now. Captures that were sold before stay available. */
  readonly isOff: boolean
}
